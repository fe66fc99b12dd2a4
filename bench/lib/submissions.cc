#include "bench/lib/submissions.h"

#include <memory>

#include "bench/lib/clock.h"
#include "bench/lib/connection.h"
#include "bench/lib/live_jobs.h"
#include "grpcpp/grpcpp.h"
#include "hodei/v1/job_service.grpc.pb.h"

namespace hodei::bench {
namespace {

// So that the next is read while one is decided and committed.
constexpr int kBatchesInFlight = 4;

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
  bound.most /= size;
  Rate rate = closed_loop(kBatchesInFlight, bound, [&](Done done) {
    auto call = std::make_shared<Call<v1::QueueJobBatchResponse>>();
    stub->async()->QueueJobBatch(&call->context, &request, &call->response,
                                 [call, done, size](const grpc::Status& status) {
                                   if (!status.ok()) give_up("QueueJobBatch: " + status.error_message());
                                   done(call->response.job_ids_size() == size);
                                 });
  });
  rate.count *= size;
  return rate;
}

}  // namespace hodei::bench
