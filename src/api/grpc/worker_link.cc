#include "src/api/grpc/worker_link.h"

#include "src/api/grpc/secrets.h"
#include "src/api/grpc/translate.h"
#include "src/api/grpc/worker_messages.h"
#include "src/base/journal.h"
#include "src/base/status.h"

namespace hodei::api {

class WorkerStreamReactor final : public grpc::ServerBidiReactor<v1::WorkerMessage, v1::ServerMessage> {
 public:
  explicit WorkerStreamReactor(std::shared_ptr<WorkerStreamLink> link) : link_(std::move(link)) {}
  void OnReadDone(bool ok) override { link_->read_done(ok); }
  void OnWriteDone(bool ok) override { link_->write_done(ok); }
  void OnCancel() override {
    const std::lock_guard lock(link_->mutex_);
    link_->finish(grpc::Status::CANCELLED);
  }
  void OnDone() override {
    link_->done();
    delete this;
  }

 private:
  std::shared_ptr<WorkerStreamLink> link_;
};

grpc::ServerBidiReactor<v1::WorkerMessage, v1::ServerMessage>* WorkerStreamLink::start() {
  const std::lock_guard lock(mutex_);
  reactor_ = new WorkerStreamReactor(shared_from_this());
  stream_ = server_.links().add(shared_from_this());
  reading_ = true;
  reactor_->StartRead(&in_);
  return reactor_;
}

// ---- Towards the worker

void WorkerStreamLink::send(server::ToWorker message) {
  const std::lock_guard lock(mutex_);
  if (reactor_ == nullptr || finished_) return;
  // With every acknowledgement: a worker that has just come hears of it too.
  if (message.heartbeat_sent_us != 0 && server_.recorder().is_watched()) message.beat = server::MetricsRecorder::kWatchedBeat;
  if (queue_.size() >= kMaxQueued) return finish({grpc::StatusCode::RESOURCE_EXHAUSTED, "the worker does not read its stream"});
  queue_.push_back(std::move(message));
  write_next();
}

void WorkerStreamLink::close(const std::string& why) {
  const std::lock_guard lock(mutex_);
  finish({grpc::StatusCode::UNAVAILABLE, why});
}

void WorkerStreamLink::acknowledged(const std::vector<server::LogAck>& acks) {
  server::ToWorker message;
  for (const server::LogAck& ack : acks) message.logs.push_back({ack.execution, ack.durable_offset});
  send(std::move(message));
}

void WorkerStreamLink::write_next() {
  if (writing_ || finished_ || queue_.empty()) return;
  fill(queue_, [this](const core::SpecRow& spec, v1::RunJob* order) { open_secrets(spec, order); }, &out_);
  writing_ = true;
  reactor_->StartWrite(&out_);
}

// That they are delivered was recorded with the dispatch; what goes wrong now is recorded too.
void WorkerStreamLink::open_secrets(const core::SpecRow& spec, v1::RunJob* order) {
  deliver_secrets(spec, {server_.vault(), server_.lookups()}, order);
  if (order->secret_error().empty()) return;
  server_.loop().post(core::RecordAudit{{.ns = spec.ns,
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
}

void WorkerStreamLink::finish(grpc::Status status) {
  if (finished_ || reactor_ == nullptr) return;
  finished_ = true;
  reactor_->Finish(std::move(status));
}

void WorkerStreamLink::done() {
  WorkerId worker;
  {
    const std::lock_guard lock(mutex_);
    reactor_ = nullptr;
    worker = worker_;
  }
  server_.links().remove(stream_);
  if (!worker.empty()) journal(Level::Info, "server", "worker ", worker.str(), " disconnected (stream ", stream_, ")");
  if (!worker.empty()) server_.loop().post(core::CloseStream{worker, stream_}, nullptr);
}

// ---- From the worker

void WorkerStreamLink::read_next() {
  if (reading_ || finished_ || reactor_ == nullptr || !open_ || !kept_.empty() || undecided_ >= kMaxUndecided) return;
  reading_ = true;
  reactor_->StartRead(&in_);
}

void WorkerStreamLink::read_done(bool ok) {
  if (ok) take(in_);
  const std::lock_guard lock(mutex_);
  reading_ = false;
  if (!ok) return finish(grpc::Status::OK);
  read_next();
}

void WorkerStreamLink::take(v1::WorkerMessage& message) {
  if (message.has_hello()) return open(message);
  {
    const std::lock_guard lock(mutex_);
    if (!open_) return finish({grpc::StatusCode::FAILED_PRECONDITION, "the first message of a stream must be a hello"});
  }
  // Before anything that says what became of executions because of it.
  if (message.has_stopping()) server_.loop().post(core::WorkerStops{worker_, stream_}, nullptr);
  if (message.has_heartbeat()) take_heartbeat(message.heartbeat());
  take_logs(message);
  if (message.started_size() + message.progress_size() + message.results_size() > 0) take_reports(message);
}

void WorkerStreamLink::open(const v1::WorkerMessage& message) {
  absl::StatusOr<core::OpenStream> hello = hello_from(message.hello());
  if (!hello.ok()) return opened(hello.status());
  hello->stream = stream_;
  server_.loop().post(std::move(*hello), [self = shared_from_this()](absl::StatusOr<core::Reply> reply) { self->opened(reply); });
}

void WorkerStreamLink::opened(const absl::StatusOr<core::Reply>& reply) {
  bool orphaned = false;
  {
    const std::lock_guard lock(mutex_);
    if (!reply.ok()) return finish(to_grpc(reply.status()));
    worker_ = std::get<core::StreamOpened>(*reply).worker;
    open_ = true;
    orphaned = reactor_ == nullptr;
    read_next();
  }
  journal(Level::Info, "server", "worker ", worker_.str(), " connected (stream ", stream_, ")");
  // The call ended while the hello was being decided.
  if (orphaned) server_.loop().post(core::CloseStream{worker_, stream_}, nullptr);
}

void WorkerStreamLink::take_heartbeat(const v1::Heartbeat& beat) {
  core::Heartbeat command;
  command.worker = worker_;
  command.stream = stream_;
  command.sent_us = beat.sent_us();
  command.cpu_load = beat.cpu_load();
  command.memory_used_mb = beat.memory_used_mb();
  command.dropped_logs = beat.dropped_logs();
  server_.recorder().take(beat_from(beat, worker_, server_.clock().now()));
  server_.loop().post(command, [self = shared_from_this()](absl::StatusOr<core::Reply> reply) {
    if (reply.ok()) return;
    const std::lock_guard lock(self->mutex_);
    self->finish(to_grpc(reply.status()));
  });
}

void WorkerStreamLink::take_reports(const v1::WorkerMessage& message) {
  absl::StatusOr<core::Report> report = report_from(message);
  {
    const std::lock_guard lock(mutex_);
    if (!report.ok()) return finish(to_grpc(report.status()));
    ++undecided_;
  }
  report->worker = worker_;
  report->stream = stream_;
  server_.loop().post(std::move(*report),
                      [self = shared_from_this()](absl::StatusOr<core::Reply> reply) { self->decided(reply.status()); });
}

void WorkerStreamLink::decided(const absl::Status& status) {
  const std::lock_guard lock(mutex_);
  --undecided_;
  if (!status.ok()) return finish(to_grpc(status));
  read_next();
}

void WorkerStreamLink::take_logs(v1::WorkerMessage& message) {
  std::vector<store::LogPiece> pieces;
  absl::Status bad;
  const auto take_one = [&](absl::StatusOr<store::LogPiece> piece) {
    if (piece.ok()) {
      pieces.push_back(std::move(*piece));
    } else {
      bad = piece.status();
    }
  };
  for (v1::WorkerLogEntry& entry : *message.mutable_log_entries()) take_one(log_from(entry));
  for (v1::LogBatch& batch : *message.mutable_logs()) take_one(log_from(batch));
  if (bad.ok() && pieces.empty()) return;
  const std::lock_guard lock(mutex_);
  if (!bad.ok()) return finish(to_grpc(bad));
  offer(std::move(pieces));
}

void WorkerStreamLink::room() {
  const std::lock_guard lock(mutex_);
  offer(std::exchange(kept_, {}));
  read_next();
}

void WorkerStreamLink::offer(std::vector<store::LogPiece> pieces) {
  if (pieces.empty()) return;
  const absl::StatusOr<bool> taken = server_.logs().offer(shared_from_this(), pieces);
  if (!taken.ok()) return finish(to_grpc(taken.status()));
  if (!*taken) kept_ = std::move(pieces);
}

}  // namespace hodei::api
