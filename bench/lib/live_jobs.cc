#include "bench/lib/live_jobs.h"

#include <cstdio>
#include <cstdlib>

#include "bench/lib/clock.h"
#include "grpcpp/grpcpp.h"
#include "hodei/v1/admin_service.grpc.pb.h"
#include "hodei/v1/job_service.grpc.pb.h"

namespace hodei::bench {

void give_up(const std::string& what) {
  std::fprintf(stderr, "bench: %s\n", what.c_str());
  std::_Exit(1);  // calls may be under way that nobody waits for any more
}

LiveJobs::LiveJobs(std::shared_ptr<grpc::Channel> channel) : channel_(std::move(channel)) {}

int64_t LiveJobs::count() const {
  const auto stub = v1::AdminService::NewStub(channel_);
  grpc::ClientContext context;
  v1::SystemStatus status;
  const grpc::Status answer = stub->GetSystemStatus(&context, {}, &status);
  if (!answer.ok()) give_up("GetSystemStatus: " + answer.error_message());
  return status.jobs_pending() + status.jobs_running();
}

bool LiveJobs::wait_for_none(double seconds) const {
  const int64_t began = mono_ns();
  while (count() > 0) {
    if (seconds_since(began) > seconds) return false;
    pause_ns(1'000'000);
  }
  return true;
}

int64_t LiveJobs::ended_badly() const {
  const auto stub = v1::JobExecutionService::NewStub(channel_);
  grpc::ClientContext context;
  v1::ListJobsRequest request;
  for (const auto state : {v1::Job::Failed, v1::Job::Cancelled, v1::Job::Timeout}) request.add_states(state);
  request.set_page_size(1);
  v1::ListJobsResponse response;
  const grpc::Status answer = stub->ListJobs(&context, request, &response);
  if (!answer.ok()) give_up("ListJobs: " + answer.error_message());
  return response.jobs_size();
}

}  // namespace hodei::bench
