#include "src/api/grpc/log_stream.h"

#include "grpcpp/alarm.h"
#include "src/api/grpc/translate.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

absl::StatusOr<server::SubscribeRequest> request_from(const v1::SubscribeLogsRequest& in) {
  server::SubscribeRequest out;
  ASSIGN_OR_RETURN(out.job, parse_job_id(in.job_id()));
  if (in.execution() < 0) return bad_field("execution", "must not be negative");
  if (in.from_offset() < 0) return bad_field("from_offset", "must not be negative");
  if (in.from_offset() > 0 && in.execution() == 0) return bad_field("from_offset", "belongs to one execution: set `execution` too");
  out.execution = static_cast<uint32_t>(in.execution());
  out.from_offset = in.from_offset();
  out.follow = !in.no_follow();
  out.tail = in.tail();
  if (in.has_since()) out.since = WallTime{in.since().seconds() * 1'000'000 + in.since().nanos() / 1000};
  return out;
}

class LogStreamReactor;

// What the hub's word finds: the reactor, as long as there is one. The word comes on the hub's thread, which must not be
// held up with reading and writing for one subscriber: an alarm that is due at once moves it to one of gRPC's threads.
struct Handle : std::enable_shared_from_this<Handle> {
  std::mutex mutex;
  LogStreamReactor* reactor = nullptr;
  grpc::Alarm alarm;
  bool woken = false;

  void wake();
  void end(const absl::Status& why);
};

class LogStreamReactor final : public grpc::ServerWriteReactor<v1::LogChunk> {
 public:
  LogStreamReactor(server::Server& server, const v1::SubscribeLogsRequest& request)
      : open_calls_(server.open_calls()), handle_(std::make_shared<Handle>()) {
    handle_->reactor = this;
    open_call_ = open_calls_.add([handle = handle_](const absl::Status& why) { handle->end(why); });
    const absl::Status subscribed = subscribe(server.logs(), request);
    const std::lock_guard lock(handle_->mutex);
    if (subscribed.ok()) {
      go_on();
    } else {
      end(subscribed);
    }
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(handle_->mutex);
    writing_ = false;
    if (!ok) return end(absl::CancelledError("the client is gone"));
    go_on();
  }
  void OnCancel() override {
    const std::lock_guard lock(handle_->mutex);
    end(absl::CancelledError("the client is gone"));
  }
  void OnDone() override {
    {
      const std::lock_guard lock(handle_->mutex);
      handle_->reactor = nullptr;
    }
    open_calls_.remove(open_call_);
    delete this;
  }

  // Both with the handle's mutex held.
  void end(const absl::Status& status) {
    if (finished_) return;
    finished_ = true;
    Finish(to_grpc(status));
  }
  void go_on() {
    if (writing_ || finished_ || subscription_ == nullptr) return;
    server::LogChunk chunk;
    switch (subscription_->next(chunk)) {
      case server::Subscription::Next::Wait: return;
      case server::Subscription::Next::Closed: return end(subscription_->status());
      case server::Subscription::Next::Chunk: break;
    }
    out_.Clear();
    to_proto(chunk, &out_);
    writing_ = true;
    StartWrite(&out_);
  }

 private:
  absl::Status subscribe(server::LogHub& hub, const v1::SubscribeLogsRequest& request) {
    ASSIGN_OR_RETURN(const server::SubscribeRequest wanted, request_from(request));
    auto subscription = hub.subscribe(wanted, [handle = handle_] { handle->wake(); });
    RETURN_IF_ERROR(subscription.status());
    const std::lock_guard lock(handle_->mutex);
    subscription_ = std::move(*subscription);
    return absl::OkStatus();
  }

  server::OpenCalls& open_calls_;
  uint64_t open_call_ = 0;
  std::shared_ptr<Handle> handle_;
  std::shared_ptr<server::Subscription> subscription_;
  v1::LogChunk out_;
  bool writing_ = false;
  bool finished_ = false;
};

void Handle::end(const absl::Status& why) {
  const std::lock_guard lock(mutex);
  if (reactor != nullptr) reactor->end(why);
}

void Handle::wake() {
  const std::lock_guard lock(mutex);
  if (reactor == nullptr || woken) return;
  woken = true;
  alarm.Set(gpr_now(GPR_CLOCK_MONOTONIC), [self = shared_from_this()](bool) {
    const std::lock_guard again(self->mutex);
    self->woken = false;
    if (self->reactor != nullptr) self->reactor->go_on();
  });
}

}  // namespace

void to_proto(const server::LogEntry& entry, const std::string& job_id, v1::LogEntry* out) {
  out->set_job_id(job_id);
  out->set_line(entry.line.data(), entry.line.size());
  out->set_is_stderr(entry.is_stderr);
  set_time(WallTime{entry.time_us}, out->mutable_timestamp());
  out->set_sequence(entry.sequence);
  out->set_partial(entry.partial);
  out->set_execution(static_cast<int>(entry.execution.number));
  out->set_offset(entry.offset);
}

void to_proto(const server::LogChunk& chunk, v1::LogChunk* out) {
  const std::string id = short_id(chunk.execution.job);
  server::for_each_entry(chunk, [&](const server::LogEntry& entry) { to_proto(entry, id, out->add_entries()); });
  out->set_execution(static_cast<int>(chunk.execution.number));
  out->set_next_offset(chunk.next_offset);
  out->set_end_of_execution(chunk.end_of_execution);
  if (!chunk.gap) return;
  out->mutable_gap()->set_bytes(chunk.gap->bytes);
  out->mutable_gap()->set_reason(std::string(chunk.gap->reason));
}

grpc::ServerWriteReactor<v1::LogChunk>* start_log_stream(server::Server& server,
                                                         const v1::SubscribeLogsRequest& request) {
  return new LogStreamReactor(server, request);
}

}  // namespace hodei::api
