// /metrics, /healthz and /readyz.
#pragma once

#include "absl/status/status.h"
#include "src/api/http/router.h"
#include "src/server/server.h"

namespace hodei::api {

// The server outlives the router.
absl::Status add_observability(Router& router, server::Server& server);

}  // namespace hodei::api
