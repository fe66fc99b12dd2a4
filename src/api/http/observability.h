// /metrics, /healthz and /readyz.
#pragma once

#include "absl/status/status.h"
#include "src/api/http/router.h"
#include "src/server/loop.h"
#include "src/server/server_status.h"

namespace hodei::api {

// Both outlive the router.
absl::Status add_observability(Router& router, server::Loop& loop, server::ServerStatus& status);

}  // namespace hodei::api
