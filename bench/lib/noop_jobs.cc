#include "bench/lib/noop_jobs.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>

#include "bench/lib/clock.h"
#include "bench/lib/connection.h"
#include "bench/lib/live_jobs.h"
#include "bench/lib/noop_worker.h"
#include "bench/lib/open_loop.h"
#include "bench/lib/submissions.h"
#include "grpcpp/grpcpp.h"
#include "hodei/v1/job_service.grpc.pb.h"
#include "src/base/text.h"

namespace hodei::bench {
namespace {

constexpr int kSlots = 100'000;
constexpr double kLastOnes = 30;  // seconds for what is under way to end

std::string worker_id() {
  static std::atomic<int> number = 0;
  return cat("noop-", getpid(), "-", ++number);
}

void wait_for_last(const std::string& server) {
  if (!LiveJobs(connect(server)).wait_for_none(kLastOnes)) give_up("jobs are still under way after the measurement");
}

// Submits jobs, one or a batch per call, and counts the calls that failed.
class Submitter {
 public:
  Submitter(const std::string& server, int batch) : stub_(v1::JobExecutionService::NewStub(connect(server))) {
    *one_.mutable_spec() = noop_spec();
    for (int i = 0; i < batch; ++i) *many_.add_specs() = noop_spec();
  }

  void submit() {
    auto call = std::make_shared<Call>();
    const auto done = [this, call](const grpc::Status& status) {
      if (!status.ok() && failed_++ == 0) std::fprintf(stderr, "submission: %s\n", status.error_message().c_str());
      --under_way_;
    };
    ++under_way_;
    if (many_.specs_size() == 1) {
      stub_->async()->QueueJob(&call->context, &one_, &call->response, done);
    } else {
      stub_->async()->QueueJobBatch(&call->context, &many_, &call->responses, done);
    }
  }
  // No answer is on its way any more.
  void wait() const {
    while (under_way_ > 0) pause_ns(1'000'000);
  }
  int64_t failed() const { return failed_; }

 private:
  struct Call {
    grpc::ClientContext context;
    v1::QueueJobResponse response;
    v1::QueueJobBatchResponse responses;
  };
  std::unique_ptr<v1::JobExecutionService::Stub> stub_;
  v1::QueueJobRequest one_;
  v1::QueueJobBatchRequest many_;
  std::atomic<int64_t> under_way_ = 0;
  std::atomic<int64_t> failed_ = 0;
};

}  // namespace

Rate noop_jobs(const std::string& server, int in_flight, int batch, Bound bound) {
  Submitter submitter(server, batch);
  std::atomic<int64_t> ended = 0;
  std::atomic<bool> going = true;
  std::mutex mutex;
  int64_t credit = 0;
  int64_t newest = 0;  // when something ended last
  int64_t pause = 0;   // the longest time without an end
  const auto note_pause = [&] {
    const int64_t now = mono_ns();
    if (newest > 0) pause = std::max(pause, now - newest);
    newest = now;
  };
  NoopWorker worker(connect(server), worker_id(), kSlots, {.ended = [&](int jobs) {
                      ended += jobs;
                      const std::lock_guard lock(mutex);
                      if (going) note_pause();
                      for (credit += jobs; going && credit >= batch; credit -= batch) submitter.submit();
                    }});
  const int64_t began = mono_ns();
  {
    const std::lock_guard lock(mutex);
    newest = began;
  }
  for (int i = 0; i < in_flight; i += batch) submitter.submit();
  while (seconds_since(began) < bound.seconds && ended < bound.most) pause_ns(2'000'000);
  Rate rate{ended, 0, seconds_since(began)};
  {
    const std::lock_guard lock(mutex);
    going = false;
    note_pause();
    rate.longest_pause = static_cast<double>(pause) / 1e9;
  }
  submitter.wait();
  wait_for_last(server);
  rate.failed = submitter.failed();
  return rate;
}

std::vector<int64_t> noop_latencies(const std::string& server, double per_second, Bound bound) {
  const auto stub = v1::JobExecutionService::NewStub(connect(server));
  std::mutex mutex;
  std::vector<int64_t> latencies;
  std::atomic<int64_t> ended = 0;
  const auto received = [&](const std::string& spec_bytes) {
    const int64_t now = mono_ns();
    v1::JobSpec spec;
    spec.ParseFromString(spec_bytes);
    const std::lock_guard lock(mutex);
    latencies.push_back(now - std::strtoll(spec.name().c_str(), nullptr, 10));
  };
  NoopWorker worker(connect(server), worker_id(), kSlots,
                    {.ended = [&](int jobs) { ended += jobs; }, .received = received});
  open_loop(per_second, bound, ended, [&](std::function<void(bool)> done) {
    struct Call {
      grpc::ClientContext context;
      v1::QueueJobRequest request;
      v1::QueueJobResponse response;
    };
    auto call = std::make_shared<Call>();
    *call->request.mutable_spec() = noop_spec();
    call->request.mutable_spec()->set_name(cat(mono_ns()));
    stub->async()->QueueJob(&call->context, &call->request, &call->response,
                            [call, done](const grpc::Status& status) { done(status.ok()); });
  });
  wait_for_last(server);
  return latencies;
}

Rate drain(const std::string& server, double seconds) {
  std::atomic<int64_t> ended = 0;
  const int64_t began = mono_ns();
  NoopWorker worker(connect(server), worker_id(), kSlots, {.ended = [&](int jobs) { ended += jobs; }});
  if (!LiveJobs(connect(server)).wait_for_none(seconds)) give_up("jobs still wait");
  return {ended, 0, seconds_since(began)};
}

}  // namespace hodei::bench
