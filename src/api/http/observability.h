// /metrics, /healthz and /readyz.
#pragma once

#include "src/api/http/router.h"
#include "src/server/server.h"

namespace hodei::api {

// The server outlives the router.
void add_observability(Router& router, server::Server& server);

}  // namespace hodei::api
