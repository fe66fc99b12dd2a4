// CancelJob with `wait`: answers when the job has ended.
#pragma once

#include <functional>

#include "grpcpp/support/server_callback.h"
#include "hodei/v1/job_service.pb.h"
#include "src/server/server.h"

namespace hodei::api {

// `absent` says why a job that is not waiting or running cannot be cancelled. A server that stops answers UNAVAILABLE
// at once: the wish is durable, and whoever asks again hears how it went.
grpc::ServerUnaryReactor* cancel_and_wait(server::Server& server, JobId job, const std::string& reason,
                                          std::function<absl::Status(JobId)> absent, v1::CancelJobResponse* out);

}  // namespace hodei::api
