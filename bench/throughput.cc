// How many jobs a second: durable submissions, and no-op jobs end to end through a worker that starts no process.
// Plaintext, no authentication, one server over loopback, everything committed to SQLite with a sync per batch.
//   bench-throughput [--hodei PATH] [--json PATH] [--seconds N]
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "bench/lib/noop_worker.h"
#include "bench/lib/server_process.h"
#include "bench/lib/table.h"
#include "grpcpp/grpcpp.h"
#include "hodei/v1/admin_service.grpc.pb.h"
#include "hodei/v1/job_service.grpc.pb.h"
#include "src/base/text.h"
#include "src/base/time.h"

namespace hodei::bench {
namespace {

v1::QueueJobRequest noop_request() {
  v1::QueueJobRequest request;
  request.mutable_spec()->set_name("noop");
  request.mutable_spec()->mutable_command()->mutable_shell()->set_cmd("true");
  return request;
}

double seconds_since(MonoTime start) { return static_cast<double>((SystemClock().now().mono - start).count()) / 1e6; }

// Keeps a number of asynchronous calls under way until time is up, and counts those that ended.
class Driver {
 public:
  explicit Driver(double seconds) : end_(SystemClock().now().mono + Duration(static_cast<int64_t>(seconds * 1e6))) {}

  bool more() const { return SystemClock().now().mono < end_; }
  void began() { ++under_way_; }
  void ended() {
    ++count_;
    const std::lock_guard lock(mutex_);
    if (--under_way_ == 0) idle_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return under_way_ == 0; });
  }
  int64_t count() const { return count_; }

 private:
  MonoTime end_;
  std::atomic<int64_t> count_ = 0;
  std::atomic<int64_t> under_way_ = 0;
  std::mutex mutex_;
  std::condition_variable idle_;
};

// Calls a second: `start(done)` begins one, and each that ends begins the next, `in_flight` at once.
double rate_of(int in_flight, double seconds, const std::function<void(std::function<void(bool ok)>)>& start) {
  Driver driver(seconds);
  std::function<void()> next = [&] {
    driver.began();
    start([&](bool ok) {
      if (ok && driver.more()) next();
      driver.ended();
    });
  };
  const MonoTime began = SystemClock().now().mono;
  for (int i = 0; i < in_flight; ++i) next();
  driver.wait();
  return static_cast<double>(driver.count()) / seconds_since(began);
}

template <class Response>
struct Call {
  grpc::ClientContext context;
  Response response;
};

double submissions(ServerProcess& server, int in_flight, double seconds) {
  const auto stub = v1::JobExecutionService::NewStub(server.channel());
  const v1::QueueJobRequest request = noop_request();
  return rate_of(in_flight, seconds, [&](std::function<void(bool)> done) {
    auto call = std::make_shared<Call<v1::QueueJobResponse>>();
    stub->async()->QueueJob(&call->context, &request, &call->response, [call, done](const grpc::Status& status) {
      if (!status.ok()) std::fprintf(stderr, "%s\n", status.error_message().c_str());
      done(status.ok());
    });
  });
}

// A call that is refused at the border, without a look-up or the loop: what gRPC alone can do here.
double echoes(ServerProcess& server, int in_flight, double seconds) {
  const auto stub = v1::JobExecutionService::NewStub(server.channel());
  v1::GetJobRequest request;
  request.set_job_id("-");
  return rate_of(in_flight, seconds, [&](std::function<void(bool)> done) {
    auto call = std::make_shared<Call<v1::Job>>();
    stub->async()->GetJob(&call->context, &request, &call->response, [call, done](const grpc::Status&) { done(true); });
  });
}

double batched(ServerProcess& server, int size, double seconds) {
  const auto stub = v1::JobExecutionService::NewStub(server.channel());
  v1::QueueJobBatchRequest request;
  for (int i = 0; i < size; ++i) *request.add_specs() = noop_request().spec();
  int64_t count = 0;
  const MonoTime start = SystemClock().now().mono;
  while (seconds_since(start) < seconds) {
    grpc::ClientContext context;
    v1::QueueJobBatchResponse response;
    const grpc::Status status = stub->QueueJobBatch(&context, request, &response);
    if (!status.ok()) std::fprintf(stderr, "%s\n", status.error_message().c_str());
    count += response.job_ids_size();
  }
  return static_cast<double>(count) / seconds_since(start);
}

// Jobs end to end: the next is submitted when one has ended durably. With batch > 1, that many per call.
double noop_jobs(ServerProcess& server, int in_flight, int batch, double seconds, const std::string& id) {
  const auto channel = server.channel();
  const auto stub = v1::JobExecutionService::NewStub(channel);
  const v1::QueueJobRequest one = noop_request();
  v1::QueueJobBatchRequest many;
  for (int i = 0; i < batch; ++i) *many.add_specs() = one.spec();
  struct Submission {
    grpc::ClientContext context;
    v1::QueueJobResponse response;
    v1::QueueJobBatchResponse responses;
  };
  std::atomic<int64_t> ended = 0;
  std::atomic<int64_t> credit = 0;
  std::atomic<bool> going = true;
  const auto submit = [&] {
    auto call = std::make_shared<Submission>();
    const auto done = [call](const grpc::Status& status) {
      if (!status.ok()) std::fprintf(stderr, "%s\n", status.error_message().c_str());
    };
    if (batch == 1) {
      stub->async()->QueueJob(&call->context, &one, &call->response, done);
    } else {
      stub->async()->QueueJobBatch(&call->context, &many, &call->responses, done);
    }
  };
  NoopWorker worker(server.channel(), id, 100'000, [&](int jobs) {
    ended += jobs;
    if (!going) return;
    for (credit += jobs; credit >= batch; credit -= batch) submit();
  });
  const MonoTime start = SystemClock().now().mono;
  for (int i = 0; i < in_flight; i += batch) submit();
  while (seconds_since(start) < seconds) {
    const timespec pause{0, 10'000'000};
    nanosleep(&pause, nullptr);
  }
  const double rate = static_cast<double>(ended) / seconds_since(start);
  going = false;
  // What is under way ends before the worker goes.
  int64_t before = -1;
  while (before != ended) {
    before = ended;
    const timespec pause{0, 200'000'000};
    nanosleep(&pause, nullptr);
  }
  return rate;
}

int run(int argc, char** argv) {
  std::string hodei = "build/release/hodei";
  std::string json;
  double seconds = 5;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--hodei") == 0) hodei = argv[i + 1];
    if (std::strcmp(argv[i], "--json") == 0) json = argv[i + 1];
    if (std::strcmp(argv[i], "--seconds") == 0) seconds = std::atof(argv[i + 1]);
  }
  Table table;
  {
    ServerProcess server(hodei);
    for (const int n : {64, 256}) {
      table.add({cat("no-op jobs end to end, ", n, " in flight"), noop_jobs(server, n, 1, seconds, cat("noop-", n)), "jobs/s", ""});
    }
    table.add({"no-op jobs end to end, batches of 100, 2000 in flight", noop_jobs(server, 2000, 100, seconds, "noop-b"), "jobs/s", ""});
    table.add({"  server memory", static_cast<double>(server.resident_kb()) / 1024, "MiB", ""});
  }
  {
    ServerProcess server(hodei);
    const double echo1 = echoes(server, 1, seconds);
    table.add({"bare unary echo, one at a time", echo1, "calls/s", ""});
    const double submit1 = submissions(server, 1, seconds);
    table.add({"durable submissions, one at a time", submit1, "jobs/s", cat(static_cast<int>(100 * submit1 / echo1), " % of the echo")});
    table.add({"bare unary echo, 32 in flight", echoes(server, 32, seconds), "calls/s", ""});
    for (const int n : {32, 256}) {
      table.add({cat("durable submissions, ", n, " in flight"), submissions(server, n, seconds), "jobs/s", ""});
    }
    table.add({"durable submissions, batches of 1000", batched(server, 1000, seconds), "jobs/s", ""});
    table.add({"  server memory with these waiting", static_cast<double>(server.resident_kb()) / 1024, "MiB", ""});
  }
  if (!json.empty()) table.write_json(json);
  return 0;
}

}  // namespace
}  // namespace hodei::bench

int main(int argc, char** argv) { return hodei::bench::run(argc, argv); }
