// DeleteJobs: finished jobs go for good.
#pragma once

#include <string>

#include "grpcpp/support/server_callback.h"
#include "hodei/v1/job_service.pb.h"
#include "src/server/server.h"

namespace hodei::api {

// Answers through `reactor`; request and response live until then.
void delete_jobs(server::Server& server, const std::string& principal, const v1::DeleteJobsRequest& in,
                 v1::DeleteJobsResponse* out, grpc::ServerUnaryReactor* reactor);

}  // namespace hodei::api
