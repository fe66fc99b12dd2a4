// The server's end of JobInputService.Take: the standard input of a job on its way to the worker of its execution,
// never more of it than the worker has room for.
#include <mutex>
#include <optional>

#include "src/api/calls/session.h"
#include "src/api/calls/workers/execution_facts.h"
#include "src/api/grpc/input_streams.h"
#include "src/api/grpc/status.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

constexpr size_t kReadPiece = 64 << 10;

class InputTaker final : public std::enable_shared_from_this<InputTaker> {
 public:
  explicit InputTaker(const InputPorts& ports) : ports_(ports) {}
  TakeInputReactor* start(const Call& call);

 private:
  class Reactor;

  void found(absl::StatusOr<WorkerId> worker);
  void read_done(bool ok);
  void write_done(bool ok);
  void cancelled();
  void done();

  void news();
  void begin();       // in the pool
  void read_piece();  // in the pool
  absl::Status check_taker(ExecutionId execution);
  absl::Status open_spool();
  bool has_something() const;            // with the mutex held
  void end(const absl::Status& status);  // with the mutex held; after what is under way
  void go_on();                          // with the mutex held

  const InputPorts& ports_;
  uint64_t open_call_ = 0;
  WorkerId worker_;
  std::mutex mutex_;                     // guards what follows
  TakeInputReactor* reactor_ = nullptr;  // null: the call is over
  v1::TakeInputRequest in_, first_;
  v1::TakeInputResponse out_;
  std::shared_ptr<server::InputSpool> spool_;
  uint64_t listener_ = 0, taker_ = 0;
  int64_t sent_ = 0, acked_ = 0;
  bool has_begun_ = false;
  bool reading_ = false;
  bool writing_ = false;
  bool working_ = false;
  bool all_sent_ = false;
  std::optional<absl::Status> ending_;
  bool finished_ = false;
};

class InputTaker::Reactor final : public TakeInputReactor {
 public:
  explicit Reactor(std::shared_ptr<InputTaker> taker) : taker_(std::move(taker)) {}
  void OnReadDone(bool ok) override { taker_->read_done(ok); }
  void OnWriteDone(bool ok) override { taker_->write_done(ok); }
  void OnCancel() override { taker_->cancelled(); }
  void OnDone() override {
    taker_->done();
    delete this;
  }

 private:
  std::shared_ptr<InputTaker> taker_;
};

TakeInputReactor* InputTaker::start(const Call& call) {
  auto* reactor = new Reactor(shared_from_this());
  {
    const std::lock_guard lock(mutex_);
    reactor_ = reactor;
  }
  open_call_ = ports_.open_calls.add([self = shared_from_this()](const absl::Status& why) {
    const std::lock_guard lock(self->mutex_);
    self->end(why);
    self->go_on();
  });
  if (call.session) {
    find_worker(ports_.sessions, call, [self = shared_from_this()](auto worker) { self->found(std::move(worker)); });
  } else {
    ports_.sessions.refused.count(server::Claim::Session);
    found(needs_session());
  }
  return reactor;
}

void InputTaker::found(absl::StatusOr<WorkerId> worker) {
  const std::lock_guard lock(mutex_);
  if (!worker.ok()) {
    end(worker.status());
  } else {
    worker_ = *std::move(worker);
    reading_ = true;
    if (reactor_ != nullptr && !finished_) reactor_->StartRead(&in_);
  }
  go_on();
}

void InputTaker::read_done(bool ok) {
  std::shared_ptr<server::InputSpool> spool;
  uint64_t number = 0;
  v1::TakeInputRequest message;
  {
    const std::lock_guard lock(mutex_);
    reading_ = false;
    if (!ok) {
      end(absl::OkStatus());
      return go_on();
    }
    spool = spool_;
    number = taker_;
    message = std::exchange(in_, {});
    if (!has_begun_) {
      has_begun_ = true;
      first_ = message;
      working_ = true;
      ports_.files.post_always([self = shared_from_this()] { self->begin(); });
      return;
    }
    acked_ = std::max(acked_, std::min(message.offset(), sent_));
  }
  // Without our mutex: it tells others, and us.
  if (spool != nullptr) spool->taken(number, message.offset());
  if (spool != nullptr && message.closed()) spool->closed_by_job(number);
  const std::lock_guard lock(mutex_);
  if (message.closed()) end(absl::OkStatus());
  go_on();
}

void InputTaker::write_done(bool ok) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  if (!ok) end(absl::CancelledError("the worker has disconnected"));
  go_on();
}

void InputTaker::cancelled() {
  const std::lock_guard lock(mutex_);
  end(absl::CancelledError("the worker has disconnected"));
  go_on();
}

void InputTaker::done() {
  ports_.open_calls.remove(open_call_);
  std::shared_ptr<server::InputSpool> spool;
  {
    const std::lock_guard lock(mutex_);
    reactor_ = nullptr;
    spool = std::move(spool_);
  }
  if (spool != nullptr) spool->unlisten(listener_);
}

void InputTaker::news() {
  const std::lock_guard lock(mutex_);
  go_on();
}

bool InputTaker::has_something() const {
  return spool_ != nullptr && !all_sent_ && sent_ - acked_ < kInputWindow && spool_->has_more_at(sent_);
}

void InputTaker::go_on() {
  if (finished_ || reactor_ == nullptr) return;
  if (!ending_ && !working_ && !writing_ && has_something()) {
    working_ = true;
    ports_.files.post_always([self = shared_from_this()] { self->read_piece(); });
  }
  if (!ending_ && !reading_ && spool_ != nullptr) {
    reading_ = true;
    reactor_->StartRead(&in_);
  }
  if (ending_ && !working_ && !writing_) {
    finished_ = true;
    reactor_->Finish(to_grpc(*ending_));
  }
}

void InputTaker::end(const absl::Status& status) {
  if (!ending_) ending_ = status;
}

// It must be the worker's own execution, still under way, of a job that takes an input.
absl::Status InputTaker::check_taker(ExecutionId execution) {
  ASSIGN_OR_RETURN(const ExecutionFacts facts, find_execution(ports_.stored.lookups, execution));
  if (const absl::Status own = check_owner(facts, execution, worker_); !own.ok()) {
    ports_.sessions.refused.count(server::Claim::Input);
    return own;
  }
  v1::JobSpec spec;
  if (facts.is_current && spec.ParseFromString(facts.spec) && spec.takes_stdin()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      cat("execution_id: ", to_string(execution), " has ended, or its job takes no standard input"));
}

absl::Status InputTaker::open_spool() {
  ASSIGN_OR_RETURN(const ExecutionId execution, parse_execution_id(first_.execution_id()));
  RETURN_IF_ERROR(check_taker(execution));
  ASSIGN_OR_RETURN(std::shared_ptr<server::InputSpool> spool, ports_.inputs.of(execution.job));
  // A job that ended meanwhile has let go of its input before we took hold of it: then it is let go of here.
  if (const absl::Status still = check_taker(execution); !still.ok()) {
    const absl::StatusOr<store::JobView> job = ports_.stored.lookups.job(execution.job);
    const bool is_over = !job.ok() || core::is_terminal(job->head.state);
    const auto unwanted = is_over ? ports_.inputs.let_go(execution.job) : nullptr;
    if (unwanted != nullptr) unwanted->remove();
    return still;
  }
  ASSIGN_OR_RETURN(const uint64_t taker, spool->begin(first_.offset()));
  const uint64_t listener = spool->listen([self = weak_from_this()] {
    if (const auto still = self.lock()) still->news();
  });
  const std::lock_guard lock(mutex_);
  spool_ = std::move(spool);
  listener_ = listener;
  taker_ = taker;
  sent_ = acked_ = first_.offset();
  return absl::OkStatus();
}

void InputTaker::begin() {
  const absl::Status opened = open_spool();
  const std::lock_guard lock(mutex_);
  working_ = false;
  if (!opened.ok()) end(opened);
  go_on();
}

void InputTaker::read_piece() {
  int64_t at = 0;
  size_t most = 0;
  {
    const std::lock_guard lock(mutex_);
    at = sent_;
    most = std::min(kReadPiece, static_cast<size_t>(kInputWindow - (sent_ - acked_)));
  }
  absl::StatusOr<server::InputSpool::Piece> piece = spool_->read(at, most);
  const std::lock_guard lock(mutex_);
  working_ = false;
  if (!piece.ok()) {
    end(piece.status());
  } else if (!ending_ && reactor_ != nullptr) {
    out_.set_offset(at);
    sent_ += static_cast<int64_t>(piece->data.size());
    out_.set_data(std::move(piece->data));
    out_.set_end(piece->end);
    out_.set_broken(piece->broken);
    all_sent_ = piece->end || piece->broken;
    writing_ = true;
    reactor_->StartWrite(&out_);
  }
  go_on();
}

}  // namespace

TakeInputReactor* start_input_taker(const InputPorts& ports, const Call& call) {
  return std::make_shared<InputTaker>(ports)->start(call);
}

}  // namespace hodei::api
