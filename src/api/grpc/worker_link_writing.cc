// The link of a worker, towards the worker.
#include <algorithm>
#include <utility>

#include "src/api/calls/secrets.h"
#include "src/api/calls/workers/worker_messages.h"
#include "src/api/grpc/worker_link.h"
#include "src/api/grpc/worker_stream_reactor.h"

namespace hodei::api {

bool WorkerStreamLink::has_room() {
  if (reactor_ == nullptr || finished_) return false;
  if (queue_.size() + acks_.size() < kMaxQueued) return true;
  finish({grpc::StatusCode::RESOURCE_EXHAUSTED, "the worker is not reading its stream"});
  return false;
}

void WorkerStreamLink::send(server::ToWorker message) {
  for (const server::ToWorker::Run& run : message.run) given_.give(run.execution);
  const std::lock_guard lock(mutex_);
  if (!has_room()) return;
  if (message.welcome && has_log_window_) {
    const auto streams = static_cast<int64_t>(std::max<size_t>(ports_.links.size(), 1));
    message.welcome->log_window = std::clamp(kAllLogWindows / streams, kMinLogWindow, kMaxLogWindow);
  }
  queue_.push_back(std::move(message));
  prepare_next();
}

void WorkerStreamLink::acknowledge(server::ToWorker message) {
  const std::lock_guard lock(mutex_);
  if (!has_room()) return;
  // With every acknowledgement: a worker that has just come hears of it too.
  if (message.heartbeat_sent_us != 0 && ports_.recorder.watchers().is_watched())
    message.beat = server::MetricsRecorder::kWatchedBeat;
  acks_.push_back(std::move(message));
  write_next();
}

void WorkerStreamLink::close(const std::string& why) {
  const std::lock_guard lock(mutex_);
  finish({grpc::StatusCode::UNAVAILABLE, why});
}

void WorkerStreamLink::acknowledged(const std::vector<server::LogAck>& acks) {
  server::ToWorker message;
  for (const server::LogAck& ack : acks) message.logs.push_back({ack.execution, ack.durable_offset});
  acknowledge(std::move(message));
}

// One message is prepared ahead of the one that is being written, not more: the others keep their secrets closed.
void WorkerStreamLink::prepare_next() {
  if (preparing_ || has_next_ || finished_ || (queue_.empty() && prepared_.empty())) return;
  preparing_ = true;
  ports_.orders.post(shared_from_this());
}

std::vector<server::ToWorker*> WorkerStreamLink::take() {
  const std::lock_guard lock(mutex_);
  std::vector<server::ToWorker*> taken;
  if (!prepared_.empty() || finished_) return taken;  // what did not fit into the last message is complete
  size_t orders = 0;
  while (!queue_.empty() && prepared_.size() < kMaxPrepared && orders < kEnoughOrders) {
    orders += queue_.front().run.size();
    prepared_.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  for (server::ToWorker& message : prepared_) taken.push_back(&message);
  return taken;
}

bool WorkerStreamLink::write() {
  const bool is_unreadable =
      std::any_of(prepared_.begin(), prepared_.end(), [](const server::ToWorker& m) { return m.unreadable; });
  if (!is_unreadable) build_message();
  const std::lock_guard lock(mutex_);
  preparing_ = false;
  // An order that cannot be sent: the stream starts over, and the hello gives the executions back.
  if (is_unreadable) finish({grpc::StatusCode::UNAVAILABLE, "the server could not read the job's spec"});
  if (finished_) return false;
  has_next_ = true;
  write_next();
  preparing_ = !has_next_ && !(queue_.empty() && prepared_.empty());
  return preparing_;
}

void WorkerStreamLink::build_message() {
  fill(
      prepared_, [this](const core::SpecRow& spec, v1::RunJob* order) { open_secrets(spec, order); }, &next_);
  note_input_errors();
}

// Of the two lanes in turn, so that neither waits for all of the other.
void WorkerStreamLink::write_next() {
  if (writing_ || finished_ || reactor_ == nullptr) return;
  const bool has_acks = welcomed_ && !acks_.empty();
  if (has_next_ && !(has_acks && acks_turn_)) {
    out_.Swap(&next_);
    has_next_ = false;
    acks_turn_ = true;
    welcomed_ = welcomed_ || out_.has_welcome();
  } else if (has_acks) {
    fill(acks_, nullptr, &out_);
    acks_turn_ = false;
  } else {
    return;
  }
  writing_ = true;
  reactor_->StartWrite(&out_);
}

// A job whose standard input is not whole any more must not be started with the rest of it.
void WorkerStreamLink::note_input_errors() {
  if (ports_.inputs.empty()) return;
  for (v1::RunJob& order : *next_.mutable_run()) {
    const absl::StatusOr<ExecutionId> execution = parse_execution_id(order.execution_id());
    if (execution.ok()) order.set_input_error(ports_.inputs.prepare_start(execution->job));
  }
}

// That they are delivered was recorded with the dispatch; what goes wrong now is recorded too.
void WorkerStreamLink::open_secrets(const core::SpecRow& spec, v1::RunJob* order) {
  deliver_secrets(spec, {ports_.vault, ports_.lookups}, order);
  if (order->secret_error().empty()) return;
  ports_.loop.post(core::RecordAudit{{.ns = spec.ns,
                                      .principal = "server",
                                      .action = "secret.failed",
                                      .subject = order->execution_id(),
                                      .detail = order->secret_error()}},
                   nullptr);
}

void WorkerStreamLink::write_done(bool ok) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  if (!ok) return finish(grpc::Status::CANCELLED);
  write_next();
  prepare_next();
}

}  // namespace hodei::api
