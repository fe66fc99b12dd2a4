#include "tests/sim/stream_link.h"

#include "tests/sim/reign.h"
#include "tests/sim/worker_node.h"

namespace hodei::sim {

StreamLink::StreamLink(Reign& reign, WorkerId worker, uint64_t stream)
    : reign_(reign), worker_(std::move(worker)), stream_(stream), output_(reign.hub(), kMaxKept) {
  output_.set_window(true);
}

void StreamLink::start() { number_ = reign_.links().add(shared_from_this()); }

// ---- Towards the worker

void StreamLink::send(server::ToWorker message) {
  if (gone_) return;
  if (message.welcome) message.welcome->log_window = kLogWindow;
  queue_.push_back(std::move(message));
  if (std::exchange(writing_, true)) return;
  reign_.beside_the_loop([self = weak_from_this()] {
    if (const auto link = self.lock()) link->write();
  });
}

void StreamLink::write() {
  writing_ = false;
  if (gone_) return;
  std::vector<server::ToWorker> messages = std::exchange(queue_, {});
  std::vector<server::ToWorker*> all;
  for (server::ToWorker& message : messages) all.push_back(&message);
  reign_.orders().fill(all);
  for (server::ToWorker& message : messages) {
    if (message.unreadable) return reign_.world().broken("a spec that is stored cannot be read");
    welcomed_ = welcomed_ || message.welcome;
    deliver(std::move(message));
  }
  if (!welcomed_) return;
  for (server::ToWorker& ack : std::exchange(acks_, {})) deliver(std::move(ack));
}

void StreamLink::acknowledge(server::ToWorker message) {
  if (gone_) return;
  if (!welcomed_) return acks_.push_back(std::move(message));
  deliver(std::move(message));
}

void StreamLink::deliver(server::ToWorker message) {
  reign_.network().to_worker(stream_, [stream = stream_, message = std::move(message)](StreamEnd& end) {
    static_cast<WorkerNode&>(end).heard(stream, message);
  });
}

void StreamLink::close(const std::string&) { reign_.network().break_stream(stream_); }

void StreamLink::acknowledged(const std::vector<server::LogAck>& acks) {
  server::ToWorker message;
  for (const server::LogAck& ack : acks) message.logs.push_back({ack.execution, ack.durable_offset});
  acknowledge(std::move(message));
}

void StreamLink::broken() {
  if (std::exchange(gone_, true)) return;
  reign_.links().remove(number_);
  reign_.heartbeats().close(number_);
  if (open_) reign_.post(core::CloseStream{worker_, number_}, nullptr);
}

// ---- From the worker

void StreamLink::arrived(FromWorker message) {
  arrived_.push_back(std::move(message));
  read();
}

// In order. What a process that stands still has not read waits.
void StreamLink::read() {
  while (!arrived_.empty() && !gone_) {
    if (reign_.is_paused()) {
      return reign_.when_running([self = weak_from_this()] {
        if (const auto link = self.lock()) link->read();
      });
    }
    if (greeted_ && !open_) return;  // its hello is being decided
    if (!output_.may_read()) {
      if (arrived_.front().heartbeat) reign_.world().broken("a heartbeat waits behind output that found no room");
      return;
    }
    FromWorker message = std::move(arrived_.front());
    arrived_.pop_front();
    take(message);
  }
}

void StreamLink::take(FromWorker& message) {
  if (message.hello) {
    greeted_ = true;
    incarnation_ = message.hello->incarnation;
    message.hello->stream = number_;
    if (!message.hello->stopping) reign_.checker().lives().start_heard(worker_);
    return reign_.post(std::move(*message.hello), [self = weak_from_this()](absl::StatusOr<core::Reply> reply) {
      if (const auto link = self.lock()) link->opened(reply);
    });
  }
  if (!open_) return;
  // Before anything that says what became of executions because of it.
  if (message.stopping) reign_.post(core::WorkerStops{worker_, number_, incarnation_}, nullptr);
  if (message.heartbeat) take_heartbeat(std::move(*message.heartbeat));
  if (!message.logs.empty()) take_output(output_.take(shared_from_this(), std::move(message.logs)));
  core::Report& report = message.report;
  if (report.started.empty() && report.progress.empty() && report.results.empty()) return;
  report.worker = worker_;
  report.stream = number_;
  reign_.post(std::move(report), nullptr);
}

void StreamLink::opened(const absl::StatusOr<core::Reply>& reply) {
  if (!reply.ok()) return close("refused");
  open_ = true;
  // The stream ended while its hello was being decided.
  if (gone_) return reign_.post(core::CloseStream{worker_, number_}, nullptr);
  reign_.heartbeats().open(number_);
  read();
}

void StreamLink::take_heartbeat(core::Heartbeat beat) {
  beat.worker = worker_;
  beat.stream = number_;
  if (!reign_.heartbeats().take(beat)) return close("it must open a new stream");
  reign_.checker().leaders().acknowledged_heartbeat(reign_.server());
  server::ToWorker acknowledgement;
  acknowledgement.heartbeat_sent_us = beat.sent_us;
  acknowledge(std::move(acknowledgement));
}

void StreamLink::take_output(absl::Status taken) {
  if (!taken.ok()) reign_.world().broken(cat("output of ", worker_.str(), " is refused: ", taken.ToString()));
  reign_.plan_hub();
}

void StreamLink::room() {
  take_output(output_.room(shared_from_this()));
  read();
}

}  // namespace hodei::sim
