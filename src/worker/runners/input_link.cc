#include "src/worker/runners/input_link.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "src/worker/system/journal.h"

namespace hodei::worker {
namespace {

constexpr Duration kInputRetry = 1s;

// Asking again would give the same answer.
bool is_final_answer(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::OK:
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::NOT_FOUND:
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::OUT_OF_RANGE:
    case grpc::StatusCode::UNIMPLEMENTED: return true;
    default: return false;
  }
}

}  // namespace

InputInbox::InputInbox() : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void InputInbox::put(Event event) {
  {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
  }
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t wrote = ::write(wake_.get(), &one, sizeof(one));
}

std::vector<InputInbox::Event> InputInbox::take() {
  uint64_t ignored = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_.get(), &ignored, sizeof(ignored));
  const std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

// Keeps itself alive until gRPC is done with it.
class InputLink::Call final : public grpc::ClientBidiReactor<v1::TakeInputRequest, v1::TakeInputResponse> {
 public:
  Call(std::shared_ptr<InputInbox> inbox, ExecutionId execution, uint64_t number)
      : inbox_(std::move(inbox)), execution_(execution), number_(number) {}

  void start(v1::JobInputService::Stub& stub, const std::string& session_id, int64_t at, std::shared_ptr<Call> self) {
    self_ = std::move(self);
    context_.AddMetadata("hodei-session", session_id);
    stub.async()->Take(&context_, this);
    AddHold();  // the loop writes from outside of reactions
    outgoing_.set_execution_id(to_string(execution_));
    outgoing_.set_offset(at);
    writing_ = true;
    StartWrite(&outgoing_);
    StartRead(&incoming_);
    StartCall();
  }
  // The newest word is enough.
  void tell(int64_t offset, bool closed) {
    const std::lock_guard lock(mutex_);
    next_.set_offset(offset);
    next_.set_closed(closed);
    has_next_ = true;
    write_next();
  }
  void abandon() {
    context_.TryCancel();
    const std::lock_guard lock(mutex_);
    let_go();
  }

  void OnReadDone(bool ok) override {
    if (ok) {
      inbox_->put({execution_, number_, std::exchange(incoming_, {})});
      return StartRead(&incoming_);
    }
    const std::lock_guard lock(mutex_);
    let_go();
  }
  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (ok) write_next();
  }
  void OnDone(const grpc::Status& status) override {
    inbox_->put({execution_, number_, status});
    self_.reset();
  }

 private:
  void write_next() {
    if (writing_ || is_over_ || !has_next_) return;
    outgoing_ = std::exchange(next_, {});
    has_next_ = false;
    writing_ = true;
    StartWrite(&outgoing_);
  }
  void let_go() {
    if (!std::exchange(is_over_, true)) RemoveHold();
  }

  const std::shared_ptr<InputInbox> inbox_;
  const ExecutionId execution_;
  const uint64_t number_;
  grpc::ClientContext context_;
  v1::TakeInputResponse incoming_;
  std::mutex mutex_;  // guards what follows
  v1::TakeInputRequest outgoing_, next_;
  bool has_next_ = false;
  bool writing_ = false;
  bool is_over_ = false;
  std::shared_ptr<Call> self_;
};

InputLink::InputLink(std::function<void(protocol::Input)> sink)
    : sink_(std::move(sink)), inbox_(std::make_shared<InputInbox>()) {}

InputLink::~InputLink() {
  for (auto& [execution, feed] : feeds_) give_up(feed);
}

void InputLink::set_server(std::shared_ptr<grpc::Channel> channel, std::string session_id) {
  channel_ = std::move(channel);
  session_id_ = std::move(session_id);
  stub_ = v1::JobInputService::NewStub(channel_);
  for (auto& [execution, feed] : feeds_) {
    give_up(feed);
    open(execution, feed);
  }
}

void InputLink::begin(ExecutionId execution, int64_t at) {
  Feed& feed = feeds_[execution];
  feed.taken = at;
  open(execution, feed);
}

void InputLink::open(ExecutionId execution, Feed& feed) {
  feed.open_at = kNever;
  if (stub_ == nullptr || feed.is_done) return;
  feed.number = ++calls_;
  feed.call = std::make_shared<Call>(inbox_, execution, feed.number);
  feed.call->start(*stub_, session_id_, feed.taken, feed.call);
}

void InputLink::give_up(Feed& feed) {
  if (feed.call != nullptr) feed.call->abandon();
  feed.call.reset();
  feed.number = 0;
}

void InputLink::taken(const protocol::InputTaken& taken) {
  const auto it = feeds_.find(taken.execution);
  if (it == feeds_.end()) return;
  Feed& feed = it->second;
  feed.taken = taken.offset;
  feed.is_done = feed.is_done || taken.closed;
  if (feed.call != nullptr) feed.call->tell(taken.offset, taken.closed);
}

void InputLink::forget(ExecutionId execution) {
  const auto it = feeds_.find(execution);
  if (it == feeds_.end()) return;
  give_up(it->second);
  feeds_.erase(it);
}

void InputLink::look(MonoTime now) {
  for (const InputInbox::Event& event : inbox_->take()) {
    const auto it = feeds_.find(event.execution);
    if (it != feeds_.end() && it->second.number == event.call) hear(event, it->second, now);
  }
  for (auto& [execution, feed] : feeds_) {
    if (now >= feed.open_at) open(execution, feed);
  }
}

void InputLink::hear(const InputInbox::Event& event, Feed& feed, MonoTime now) {
  if (const auto* piece = std::get_if<v1::TakeInputResponse>(&event.what)) {
    feed.is_done = feed.is_done || piece->end() || piece->broken();
    return sink_({.execution = event.execution,
                  .offset = piece->offset(),
                  .data = piece->data(),
                  .end = piece->end(),
                  .broken = piece->broken()});
  }
  const auto& status = std::get<grpc::Status>(event.what);
  feed.call.reset();
  feed.number = 0;
  if (feed.is_done) return;
  if (is_final_answer(status.error_code())) {
    feed.is_done = true;
    say("no more standard input for ", to_string(event.execution), ": ", status.error_message());
    // Without this message the job would wait for its input forever.
    return sink_({.execution = event.execution, .offset = feed.taken, .data = {}, .end = !status.ok(), .broken = true});
  }
  feed.open_at = now + kInputRetry;
}

MonoTime InputLink::next_due() const {
  MonoTime next = kNever;
  for (const auto& [execution, feed] : feeds_) next = std::min(next, feed.open_at);
  return next;
}

}  // namespace hodei::worker
