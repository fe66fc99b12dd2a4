// Limits that hold at every address at which this server listens; named in docs/limits.md.
#pragma once

#include "grpcpp/server_builder.h"
#include "src/base/time.h"

namespace hodei::api {

// A stop leaves calls that are about to be answered this long; the rest are broken off.
inline constexpr Duration kGraceOnStop = 500ms;

void set_edge_limits(grpc::ServerBuilder& builder);

}  // namespace hodei::api
