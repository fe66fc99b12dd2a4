#include "bench/lib/exec_jobs.h"

#include <atomic>
#include <memory>
#include <thread>

#include "bench/lib/clock.h"
#include "bench/lib/connection.h"
#include "bench/lib/live_jobs.h"
#include "bench/lib/open_loop.h"
#include "bench/lib/stamps.h"
#include "grpcpp/grpcpp.h"
#include "hodei/v1/job_service.grpc.pb.h"
#include "src/base/text.h"

namespace hodei::bench {
namespace {

constexpr double kLastOnes = 60;        // seconds for what is under way to end
constexpr int64_t kLookNs = 6'000'000;  // between two looks at how many are under way

}  // namespace

Rate exec_jobs(const std::string& server, const v1::JobSpec& spec, int in_flight, Bound bound) {
  const auto stub = v1::JobExecutionService::NewStub(connect(server));
  const LiveJobs live(connect(server));
  const int64_t began = mono_ns();
  int64_t sent = 0;
  while (sent < bound.most && seconds_since(began) < bound.seconds) {
    // As many as have ended, in one durable call.
    const int64_t room = std::min(in_flight - live.count(), bound.most - sent);
    v1::QueueJobBatchRequest request;
    for (int64_t i = 0; i < room; ++i) *request.add_specs() = spec;
    grpc::ClientContext context;
    v1::QueueJobBatchResponse response;
    const grpc::Status status = room > 0 ? stub->QueueJobBatch(&context, request, &response) : grpc::Status::OK;
    if (!status.ok()) give_up("QueueJobBatch: " + status.error_message());
    sent += response.job_ids_size();
    pause_ns(kLookNs);
  }
  if (!live.wait_for_none(kLastOnes)) give_up("jobs are still under way after the measurement");
  const double seconds = seconds_since(began);  // the next question reads through all that ever ended
  return {sent, live.ended_badly(), seconds};
}

std::vector<int64_t> exec_latencies(const std::string& server, const std::string& stamp, const std::string& file,
                                    double per_second, Bound bound) {
  const auto stub = v1::JobExecutionService::NewStub(connect(server));
  const LiveJobs live(connect(server));
  std::atomic<int64_t> begun = 0;  // children that ran
  std::atomic<bool> going = true;
  // Idle: the next one comes when the one before has run. The server is not asked, that would be load.
  std::thread watch([&] {
    while (going && per_second <= 0) {
      begun = static_cast<int64_t>(read_stamps(file).size());
      pause_ns(1'000'000);
    }
  });
  open_loop(per_second, bound, begun, [&](Done done) {
    struct Call {
      grpc::ClientContext context;
      v1::QueueJobRequest request;
      v1::QueueJobResponse response;
    };
    auto call = std::make_shared<Call>();
    call->request.mutable_spec()->set_name("stamp");
    auto& shell = *call->request.mutable_spec()->mutable_command()->mutable_shell();
    shell.set_cmd(stamp);
    shell.add_args(file);
    shell.add_args(cat(mono_ns()));
    stub->async()->QueueJob(&call->context, &call->request, &call->response,
                            [call, done](const grpc::Status& status) { done(status.ok()); });
  });
  going = false;
  watch.join();
  if (!live.wait_for_none(kLastOnes)) give_up("jobs are still under way after the measurement");
  return read_stamps(file);
}

}  // namespace hodei::bench
