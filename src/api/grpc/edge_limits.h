// Limits that hold at every address at which this server listens; named in docs/limits.md.
#pragma once

#include "grpcpp/server_builder.h"

namespace hodei::api {

void set_edge_limits(grpc::ServerBuilder& builder);

}  // namespace hodei::api
