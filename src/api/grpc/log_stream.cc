#include "src/api/grpc/log_stream.h"

#include <mutex>

#include "src/api/grpc/translate.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

absl::StatusOr<server::SubscribeRequest> request_from(const v1::SubscribeLogsRequest& in) {
  server::SubscribeRequest out;
  ASSIGN_OR_RETURN(out.job, parse_job_id(in.job_id()));
  if (in.execution() < 0) return bad_field("execution", "must not be negative");
  if (in.from_offset() < 0) return bad_field("from_offset", "must not be negative");
  if (in.from_offset() > 0 && in.execution() == 0)
    return bad_field("from_offset", "applies to one execution: set `execution` too");
  out.execution = static_cast<uint32_t>(in.execution());
  out.from_offset = in.from_offset();
  out.follow = !in.no_follow();
  out.tail = in.tail();
  if (in.has_since()) out.since = WallTime{in.since().seconds() * 1'000'000 + in.since().nanos() / 1000};
  return out;
}

class LogStreamReactor;

// What the hub's word and the work in the pool find: the reactor, as long as there is one. Finding the next chunk may
// read from the disk, so it is done in the pool, one piece of work at a time and without the mutex; gRPC's threads and
// the hub's never wait for it.
struct LogFeed : std::enable_shared_from_this<LogFeed> {
  LogFeed(server::Server& s, v1::SubscribeLogsRequest r) : host(s), request(std::move(r)) {}

  server::Server& host;
  const v1::SubscribeLogsRequest request;
  std::mutex mutex;                     // guards all below
  LogStreamReactor* reactor = nullptr;  // null: the call is over
  std::shared_ptr<server::Subscription> subscription;
  bool at_work = false;
  bool again = false;  // something came up while at work
  bool writing = false;
  bool finished = false;

  void wake() {
    const std::lock_guard lock(mutex);
    go_on();
  }
  void go_on();  // with the mutex held
  void work();
  bool use(server::Subscription::Next next, const server::LogChunk& chunk);  // with the mutex held; true: look again
  absl::StatusOr<std::shared_ptr<server::Subscription>> subscribe();
  void end(const absl::Status& status);  // with the mutex held
};

class LogStreamReactor final : public grpc::ServerWriteReactor<v1::LogChunk> {
 public:
  explicit LogStreamReactor(std::shared_ptr<LogFeed> feed) : feed_(std::move(feed)) {
    open_call_ = feed_->host.open_calls().add([feed = feed_](const absl::Status& why) {
      const std::lock_guard lock(feed->mutex);
      feed->end(why);
    });
    const std::lock_guard lock(feed_->mutex);
    feed_->reactor = this;
    feed_->go_on();
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(feed_->mutex);
    feed_->writing = false;
    ok ? feed_->go_on() : feed_->end(absl::CancelledError("the client has disconnected"));
  }
  void OnCancel() override {
    const std::lock_guard lock(feed_->mutex);
    feed_->end(absl::CancelledError("the client has disconnected"));
  }
  void OnDone() override {
    std::shared_ptr<server::Subscription> last;  // let go of without the mutex
    {
      const std::lock_guard lock(feed_->mutex);
      feed_->reactor = nullptr;
      last = std::move(feed_->subscription);
    }
    feed_->host.open_calls().remove(open_call_);
    delete this;
  }

  v1::LogChunk out;

 private:
  const std::shared_ptr<LogFeed> feed_;
  uint64_t open_call_ = 0;
};

void LogFeed::go_on() {
  again = true;
  if (at_work || writing || finished || reactor == nullptr) return;
  at_work = true;
  host.files().post_always([self = shared_from_this()] { self->work(); });
}

void LogFeed::end(const absl::Status& status) {
  if (finished || reactor == nullptr) return;
  finished = true;
  reactor->Finish(to_grpc(status));
}

absl::StatusOr<std::shared_ptr<server::Subscription>> LogFeed::subscribe() {
  ASSIGN_OR_RETURN(const server::SubscribeRequest wanted, request_from(request));
  return host.logs().subscribe(wanted, [self = shared_from_this()] { self->wake(); });
}

void LogFeed::work() {
  std::shared_ptr<server::Subscription>
      reading;  // outlives the lock: its end may need the hub, which may wait for the lock
  std::unique_lock lock(mutex);
  do {
    again = false;
    if (finished || reactor == nullptr) break;
    reading = subscription;
    lock.unlock();
    if (reading == nullptr) {
      auto fresh = subscribe();
      if (!fresh.ok()) {
        lock.lock();
        end(fresh.status());
        break;
      }
      reading = *std::move(fresh);
    }
    server::LogChunk chunk;
    const server::Subscription::Next next = reading->next(chunk);
    lock.lock();
    if (finished || reactor == nullptr) break;
    subscription = reading;
    if (!use(next, chunk)) break;
  } while (true);
  at_work = false;
}

bool LogFeed::use(server::Subscription::Next next, const server::LogChunk& chunk) {
  switch (next) {
    case server::Subscription::Next::Wait: return again;
    case server::Subscription::Next::Closed: end(subscription->status()); return false;
    case server::Subscription::Next::Chunk: break;
  }
  reactor->out.Clear();
  to_proto(chunk, &reactor->out);
  writing = true;
  reactor->StartWrite(&reactor->out);
  return false;
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
  return new LogStreamReactor(std::make_shared<LogFeed>(server, request));
}

}  // namespace hodei::api
