#include "bench/lib/noop_worker.h"

#include <condition_variable>
#include <mutex>

#include "grpcpp/grpcpp.h"
#include "hodei/v1/worker_service.grpc.pb.h"
#include "src/base/random.h"
#include "src/base/time.h"

namespace hodei::bench {
namespace {

void check(const grpc::Status& status, const char* what) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s: %s\n", what, status.error_message().c_str());
  std::exit(1);
}

}  // namespace

class NoopWorker::Stream final : public grpc::ClientBidiReactor<v1::WorkerMessage, v1::ServerMessage> {
 public:
  Stream(grpc::Channel& channel, const std::string& session, const std::string& incarnation, Calls calls)
      : stub_(v1::WorkerAgentService::NewStub(std::shared_ptr<grpc::Channel>(&channel, [](auto*) {}))),
        calls_(std::move(calls)) {
    stub_->async()->WorkerStream(&context_, this);
    out_.mutable_hello()->set_session_id(session);
    out_.mutable_hello()->set_incarnation(incarnation);
    writing_ = true;
    StartWrite(&out_);
    StartRead(&in_);
    AddHold();
    StartCall();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return welcome_ || done_; });
  }

  void close() {
    context_.TryCancel();
    RemoveHold();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    const int acked = in_.ack().results_size();
    if (calls_.received) {
      for (const v1::RunJob& run : in_.run()) calls_.received(run.spec());
    }
    {
      const std::lock_guard lock(mutex_);
      for (const v1::RunJob& run : in_.run()) {
        next_.add_started()->set_execution_id(run.execution_id());
        v1::JobResult* result = next_.add_results();
        result->set_execution_id(run.execution_id());
        result->set_outcome(v1::JobResult::Succeeded);
        result->set_started_us(1);
        result->set_log_bytes(0);
        pending_ = true;
      }
      const MonoTime now = SystemClock().now().mono;
      if (now - last_beat_ > std::chrono::seconds(5)) {
        last_beat_ = now;
        next_.mutable_heartbeat()->set_sent_us(now.us);
        pending_ = true;
      }
      welcome_ = welcome_ || in_.has_welcome();
      write_next();
    }
    changed_.notify_all();
    StartRead(&in_);
    if (acked > 0 && calls_.ended) calls_.ended(acked);
  }
  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (ok) write_next();
  }
  void OnDone(const grpc::Status&) override {
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_all();
  }

 private:
  void write_next() {
    if (writing_ || !pending_) return;
    out_.Clear();
    out_.Swap(&next_);
    pending_ = false;
    writing_ = true;
    StartWrite(&out_);
  }

  grpc::ClientContext context_;
  std::unique_ptr<v1::WorkerAgentService::Stub> stub_;
  const Calls calls_;
  std::mutex mutex_;
  std::condition_variable changed_;
  v1::ServerMessage in_;
  v1::WorkerMessage out_;
  v1::WorkerMessage next_;
  MonoTime last_beat_ = SystemClock().now().mono;
  bool pending_ = false;
  bool writing_ = false;
  bool welcome_ = false;
  bool done_ = false;
};

NoopWorker::NoopWorker(std::shared_ptr<grpc::Channel> channel, std::string id, int slots, Calls calls)
    : channel_(std::move(channel)), id_(std::move(id)) {
  const auto stub = v1::WorkerAgentService::NewStub(channel_);
  v1::CreateOtpRequest otp_request;
  v1::CreateOtpResponse otp;
  otp_request.set_worker_id(id_);
  {
    grpc::ClientContext context;
    check(stub->CreateOtp(&context, otp_request, &otp), "CreateOtp");
  }
  v1::RegisterRequest request;
  v1::RegisterResponse response;
  request.set_auth_token(otp.token());
  request.set_incarnation(random_uuid());
  request.set_protocol_min(1);
  request.set_protocol_max(1);
  request.mutable_info()->set_id(id_);
  request.mutable_info()->set_slots(slots);
  request.mutable_info()->add_capabilities("shell");
  request.mutable_info()->add_capabilities("script");
  {
    grpc::ClientContext context;
    check(stub->Register(&context, request, &response), "Register");
  }
  session_ = response.session_id();
  stream_ = std::make_unique<Stream>(*channel_, session_, request.incarnation(), std::move(calls));
}

NoopWorker::~NoopWorker() {
  stream_->close();
  const auto stub = v1::WorkerAgentService::NewStub(channel_);
  grpc::ClientContext context;
  context.AddMetadata("hodei-session", session_);
  v1::UnregisterWorkerRequest request;
  v1::UnregisterWorkerResponse response;
  request.set_worker_id(id_);
  request.set_reason("the benchmark is over");
  check(stub->UnregisterWorker(&context, request, &response), "UnregisterWorker");
}

}  // namespace hodei::bench
