#include "bench/lib/submissions.h"

#include <memory>

#include "bench/lib/clock.h"
#include "bench/lib/connection.h"
#include "bench/lib/live_jobs.h"
#include "grpcpp/grpcpp.h"
#include "hodei/v1/job_service.grpc.pb.h"

namespace hodei::bench {
namespace {

template <class Response>
struct Call {
  grpc::ClientContext context;
  Response response;
};

}  // namespace

v1::JobSpec noop_spec() {
  v1::JobSpec spec;
  spec.set_name("noop");
  spec.mutable_command()->mutable_shell()->set_cmd("true");
  return spec;
}

Rate submissions(const std::string& server, int in_flight, Bound bound) {
  const auto stub = v1::JobExecutionService::NewStub(connect(server));
  v1::QueueJobRequest request;
  *request.mutable_spec() = noop_spec();
  return closed_loop(in_flight, bound, [&](Done done) {
    auto call = std::make_shared<Call<v1::QueueJobResponse>>();
    stub->async()->QueueJob(&call->context, &request, &call->response, [call, done](const grpc::Status& status) {
      if (!status.ok()) std::fprintf(stderr, "QueueJob: %s\n", status.error_message().c_str());
      done(status.ok());
    });
  });
}

Rate echoes(const std::string& server, int in_flight, Bound bound) {
  const auto stub = v1::JobExecutionService::NewStub(connect(server));
  v1::GetJobRequest request;
  request.set_job_id("-");
  return closed_loop(in_flight, bound, [&](Done done) {
    auto call = std::make_shared<Call<v1::Job>>();
    stub->async()->GetJob(&call->context, &request, &call->response, [call, done](const grpc::Status& status) {
      done(status.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
    });
  });
}

Rate batches(const std::string& server, int size, Bound bound) {
  const auto stub = v1::JobExecutionService::NewStub(connect(server));
  v1::QueueJobBatchRequest request;
  for (int i = 0; i < size; ++i) *request.add_specs() = noop_spec();
  Rate rate;
  const int64_t began = mono_ns();
  while (rate.count < bound.most && seconds_since(began) < bound.seconds) {
    grpc::ClientContext context;
    v1::QueueJobBatchResponse response;
    const grpc::Status status = stub->QueueJobBatch(&context, request, &response);
    if (!status.ok()) give_up("QueueJobBatch: " + status.error_message());
    rate.count += response.job_ids_size();
  }
  rate.seconds = seconds_since(began);
  return rate;
}

}  // namespace hodei::bench
