// What gRPC says about a call beside its request: the one place where metadata are read.
#pragma once

#include "grpcpp/server_context.h"
#include "src/api/calls/envelope.h"
#include "src/base/time.h"

namespace hodei::api {

CallFacts facts_of(const grpc::CallbackServerContext& context, Callers callers, const Clock& clock);

}  // namespace hodei::api
