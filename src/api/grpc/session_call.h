// Unary calls that only a registered worker may make: its session id is in the metadata, as `hodei-session`.
#pragma once

#include <functional>

#include "src/api/grpc/unary.h"

namespace hodei::api {

// Finds the worker of the session, then posts the command that `make` builds for it.
grpc::ServerUnaryReactor* decide_for_worker(server::Server& server, grpc::CallbackServerContext* context,
                                            std::function<core::Command(const WorkerId&)> make,
                                            std::function<void(const core::Reply&)> fill);

}  // namespace hodei::api
