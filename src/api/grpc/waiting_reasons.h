// Why jobs wait. The store has the words of a job's last change; that a quota, a concurrency key or a rate holds it
// back right now, only the engine knows.
#pragma once

#include <vector>

#include "grpcpp/support/server_callback.h"
#include "hodei/v1/job.pb.h"
#include "src/server/server.h"

namespace hodei::api {

// Fills in the reason of those that a limit holds back, then finishes the call. `jobs` are part of its response.
void tell_why_waiting(server::Server& server, const std::vector<v1::Job*>& jobs, grpc::ServerUnaryReactor* call);

}  // namespace hodei::api
