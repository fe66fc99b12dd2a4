// The server's end of JobInputService.Send: what a client sends becomes durable, then it is acknowledged.
//
// One message at a time is read, and the next only when that one is stored: a client that sends faster than the job
// reads waits. Files are for the threads of the pool; the rest is done under the mutex.
#include <mutex>
#include <optional>

#include "src/api/grpc/input_streams.h"
#include "src/api/grpc/status.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

class InputSender final : public std::enable_shared_from_this<InputSender> {
 public:
  InputSender(const InputPorts& ports, std::string client) : ports_(ports), client_(std::move(client)) {}
  SendInputReactor* start();

 private:
  class Reactor;

  void read_done(bool ok);
  void write_done(bool ok);
  void cancelled();
  void done();

  void news();
  void work();
  absl::Status take_message();
  absl::Status find_spool();
  absl::Status store_piece();
  void acknowledge();                    // with the mutex held
  void end(const absl::Status& status);  // with the mutex held; after what is under way
  void go_on();                          // with the mutex held

  const InputPorts& ports_;
  const std::string client_;  // tells its calls from those of others
  uint64_t open_call_ = 0;
  std::mutex mutex_;                     // guards what follows, but for in_ while it is worked on
  SendInputReactor* reactor_ = nullptr;  // null: the call is over
  v1::SendInputRequest in_;
  v1::SendInputResponse out_, answer_;
  std::shared_ptr<server::InputSpool> spool_;
  uint64_t sender_ = 0, listener_ = 0;
  bool reading_ = false;
  bool writing_ = false;
  bool working_ = false;
  bool has_message_ = false;  // that is not dealt with
  bool is_full_ = false;      // it waits for room
  bool has_answer_ = false;
  std::optional<absl::Status> ending_;
  bool finished_ = false;
};

class InputSender::Reactor final : public SendInputReactor {
 public:
  explicit Reactor(std::shared_ptr<InputSender> sender) : sender_(std::move(sender)) {}
  void OnReadDone(bool ok) override { sender_->read_done(ok); }
  void OnWriteDone(bool ok) override { sender_->write_done(ok); }
  void OnCancel() override { sender_->cancelled(); }
  void OnDone() override {
    sender_->done();
    delete this;
  }

 private:
  std::shared_ptr<InputSender> sender_;
};

SendInputReactor* InputSender::start() {
  auto* reactor = new Reactor(shared_from_this());
  {
    const std::lock_guard lock(mutex_);
    reactor_ = reactor;
    go_on();
  }
  open_call_ = ports_.open_calls.add([self = shared_from_this()](const absl::Status& why) {
    const std::lock_guard lock(self->mutex_);
    self->end(why);
    self->go_on();
  });
  return reactor;
}

void InputSender::read_done(bool ok) {
  const std::lock_guard lock(mutex_);
  reading_ = false;
  if (ok) {
    has_message_ = true;
  } else {
    end(absl::OkStatus());  // the client has said all that it wanted to say
  }
  go_on();
}

void InputSender::write_done(bool ok) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  if (!ok) end(absl::CancelledError("the client has disconnected"));
  go_on();
}

void InputSender::cancelled() {
  const std::lock_guard lock(mutex_);
  end(absl::CancelledError("the client has disconnected"));
  go_on();
}

void InputSender::done() {
  ports_.open_calls.remove(open_call_);
  std::shared_ptr<server::InputSpool> spool;
  {
    const std::lock_guard lock(mutex_);
    reactor_ = nullptr;
    spool = std::move(spool_);
  }
  if (spool == nullptr) return;
  spool->unlisten(listener_);
  spool->detach_sender(sender_, ports_.stored.clock.now().mono);
}

// There is room, or the job has ended.
void InputSender::news() {
  const std::lock_guard lock(mutex_);
  is_full_ = false;
  if (spool_ != nullptr && spool_->position().closed) acknowledge();
  go_on();
}

void InputSender::go_on() {
  if (finished_ || reactor_ == nullptr) return;
  if (has_message_ && !working_ && !is_full_ && !ending_) {
    working_ = true;
    ports_.files.post_always([self = shared_from_this()] { self->work(); });
  }
  if (has_answer_ && !writing_) {
    has_answer_ = false;
    writing_ = true;
    out_ = answer_;
    reactor_->StartWrite(&out_);
  }
  if (!has_message_ && !reading_ && !ending_) {
    reading_ = true;
    reactor_->StartRead(&in_);
  }
  if (ending_ && !working_ && !writing_) {
    finished_ = true;
    reactor_->Finish(to_grpc(*ending_));
  }
}

void InputSender::end(const absl::Status& status) {
  if (!ending_) ending_ = status;
}

void InputSender::acknowledge() {
  const server::InputSpool::Position at = spool_->position();
  answer_.set_offset(at.size);
  answer_.set_ended(at.whole && !at.closed);
  answer_.set_closed(at.closed);
  has_answer_ = true;
  if (at.closed || at.whole) end(absl::OkStatus());
}

void InputSender::work() {
  const absl::Status done = take_message();
  const std::lock_guard lock(mutex_);
  working_ = false;
  if (!done.ok()) end(done);
  go_on();
}

absl::Status InputSender::take_message() {
  if (spool_ == nullptr) RETURN_IF_ERROR(find_spool());
  if (in_.data().size() > kMaxInputPiece) return bad_field("data", "must have at most ", kMaxInputPiece, " bytes");
  if (in_.broken()) {
    spool_->break_off();
  } else if (!in_.data().empty() || in_.end()) {
    return store_piece();
  }
  const std::lock_guard lock(mutex_);
  has_message_ = false;
  acknowledge();
  return absl::OkStatus();
}

// In this order: a job that ends meanwhile lets go of its input, or is seen to have ended here.
absl::Status InputSender::find_spool() {
  if (in_.job_id().empty()) return bad_field("job_id", "must be in the first message");
  ASSIGN_OR_RETURN(const JobId job, parse_job_id(in_.job_id()));
  RETURN_IF_ERROR(ports_.check_room());
  ASSIGN_OR_RETURN(const store::JobView before, ports_.stored.lookups.job(job));
  v1::JobSpec spec;
  if (!spec.ParseFromString(before.spec.bytes) || !spec.takes_stdin()) {
    return absl::FailedPreconditionError(cat("job ", short_id(job), " takes no standard input (takes_stdin)"));
  }
  ASSIGN_OR_RETURN(std::shared_ptr<server::InputSpool> spool, ports_.inputs.of(job));
  const absl::StatusOr<store::JobView> after = ports_.stored.lookups.job(job);
  if (!after.ok() || core::is_terminal(after->head.state)) {
    if (const auto unwanted = ports_.inputs.let_go(job)) unwanted->remove();
    RETURN_IF_ERROR(after.status());
  }
  if (spool->position().abandoned) {
    return absl::FailedPreconditionError(
        cat("the standard input of job ", short_id(job), " has ended: its client was away for too long (stdin_wait)"));
  }
  const uint64_t sender = spool->attach_sender(client_);
  if (sender == 0) {
    return absl::FailedPreconditionError(cat("another client is sending the standard input of job ", short_id(job)));
  }
  const uint64_t listener = spool->listen([self = weak_from_this()] {
    if (const auto still = self.lock()) still->news();
  });
  const std::lock_guard lock(mutex_);
  spool_ = std::move(spool);
  sender_ = sender;
  listener_ = listener;
  return absl::OkStatus();
}

absl::Status InputSender::store_piece() {
  {
    // Before the attempt: the word that there is room must not come between its refusal and our waiting for it.
    const std::lock_guard lock(mutex_);
    is_full_ = true;
  }
  const absl::StatusOr<server::InputSpool::Put> put = spool_->put(sender_, in_.offset(), in_.data(), in_.end());
  RETURN_IF_ERROR(put.status());
  if (*put == server::InputSpool::Put::Full) return absl::OkStatus();
  if (*put == server::InputSpool::Put::Replaced) {
    return absl::FailedPreconditionError("another client is now sending the standard input of this job");
  }
  const std::lock_guard lock(mutex_);
  is_full_ = false;
  has_message_ = false;
  acknowledge();
  if (*put == server::InputSpool::Put::Closed) {
    answer_.set_closed(true);
    end(absl::OkStatus());
  }
  return absl::OkStatus();
}

}  // namespace

SendInputReactor* start_input_sender(const InputPorts& ports, const Call& call) {
  return std::make_shared<InputSender>(ports, call.client)->start();
}

}  // namespace hodei::api
