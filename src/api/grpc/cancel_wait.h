// CancelJob with `wait`: answers when the job has ended.
#pragma once

#include <functional>

#include "grpcpp/support/server_callback.h"
#include "hodei/v1/job_service.pb.h"
#include "src/server/server.h"

namespace hodei::api {

void wait_for_cancel(server::Server& server, JobId job, const std::string& reason, std::function<absl::Status(JobId)> absent,
                     grpc::ServerUnaryReactor* reactor, v1::CancelJobResponse* out);

}  // namespace hodei::api
