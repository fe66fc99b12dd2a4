#include "src/api/grpc/worker_link.h"

#include <algorithm>

#include "src/api/calls/workers/worker_messages.h"
#include "src/api/grpc/status.h"
#include "src/api/grpc/worker_stream_reactor.h"
#include "src/base/journal.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

// What a report costs while it waits, beside its own bytes.
constexpr size_t kReportOverhead = 1024;

// Refusals that one message tells a worker in words; the rest are counted.
constexpr size_t kMaxWords = 8;

}  // namespace

grpc::ServerBidiReactor<v1::WorkerMessage, v1::ServerMessage>* WorkerStreamLink::start() {
  const std::lock_guard lock(mutex_);
  reactor_ = new WorkerStreamReactor(shared_from_this());
  stream_ = ports_.links.add(shared_from_this());
  reading_ = true;
  reactor_->StartRead(&in_);
  return reactor_;
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
  ports_.links.remove(stream_);
  ports_.heartbeats.close(stream_);
  if (!worker.empty()) journal(Level::Info, "server", "worker ", worker.str(), " disconnected (stream ", stream_, ")");
  if (!worker.empty()) ports_.loop.post(core::CloseStream{worker, stream_}, nullptr);
}

void WorkerStreamLink::read_next() {
  if (reading_ || finished_ || reactor_ == nullptr || !open_) return;
  if (!output_.may_read() || undecided_bytes_ >= kMaxUndecidedBytes) return;
  reading_ = true;
  reactor_->StartRead(&in_);
}

void WorkerStreamLink::read_done(bool ok) {
  if (ok) handle(in_);
  const std::lock_guard lock(mutex_);
  reading_ = false;
  if (!ok) return finish(grpc::Status::OK);
  read_next();
}

void WorkerStreamLink::handle(v1::WorkerMessage& message) {
  {
    const std::lock_guard lock(mutex_);
    if (message.has_hello() && open_)
      return finish({grpc::StatusCode::FAILED_PRECONDITION, "only the first message of a stream may be a hello"});
  }
  if (message.has_hello()) return open(message);
  if (!is_open()) return;
  // Before anything that says what became of executions because of it.
  if (message.has_stopping()) ports_.loop.post(core::WorkerStops{worker_, stream_, incarnation_}, nullptr);
  if (message.has_heartbeat()) take_heartbeat(message.heartbeat());
  take_logs(message);
  if (message.started_size() + message.progress_size() + message.results_size() > 0 || progress_.has_waiting())
    take_reports(message);
}

bool WorkerStreamLink::is_open() {
  const std::lock_guard lock(mutex_);
  if (!open_) finish({grpc::StatusCode::FAILED_PRECONDITION, "the first message of a stream must be a hello"});
  return open_;
}

void WorkerStreamLink::open(const v1::WorkerMessage& message) {
  absl::StatusOr<core::OpenStream> hello = hello_from(message.hello());
  if (!hello.ok()) return opened(hello.status());
  hello->stream = stream_;
  {
    const std::lock_guard lock(mutex_);
    has_log_window_ = message.hello().has_log_window();
    output_.set_window(has_log_window_);
    incarnation_ = message.hello().incarnation();
  }
  ports_.loop.post(std::move(*hello),
                   [self = shared_from_this()](absl::StatusOr<core::Reply> reply) { self->opened(reply); });
}

void WorkerStreamLink::opened(const absl::StatusOr<core::Reply>& reply) {
  bool orphaned = false;
  {
    const std::lock_guard lock(mutex_);
    if (!reply.ok()) return finish(to_grpc(reply.status()));
    const auto& answer = std::get<core::StreamOpened>(*reply);
    worker_ = answer.worker;
    for (const ExecutionId& execution : answer.given) given_.give(execution);
    open_ = true;
    orphaned = reactor_ == nullptr;
    if (!orphaned && !finished_) ports_.heartbeats.open(stream_);
    read_next();
  }
  journal(Level::Info, "server", "worker ", worker_.str(), " connected (stream ", stream_, ")");
  // The call ended while the hello was being decided.
  if (orphaned) ports_.loop.post(core::CloseStream{worker_, stream_}, nullptr);
}

void WorkerStreamLink::take_heartbeat(const v1::Heartbeat& beat) {
  core::Heartbeat command;
  command.worker = worker_;
  command.stream = stream_;
  command.sent_us = beat.sent_us();
  command.cpu_load = beat.cpu_load();
  command.memory_used_mb = beat.memory_used_mb();
  command.dropped_logs = beat.dropped_logs();
  command.unfit = unfit_from(beat.status());
  command.active = active_from(beat);
  if (const Now now = ports_.clock.now(); now.mono >= record_at_) {
    record_at_ = now.mono + kLeastBeat;
    server::Beat seen = beat_from(beat, worker_, now);
    const size_t foreign = std::erase_if(seen.executions, [this](const auto& usage) { return !given_.has(usage.id); });
    if (foreign > 0) ports_.refused_claims.count(server::Claim::Usage, static_cast<int64_t>(foreign));
    ports_.recorder.take(std::move(seen));
  }
  if (!ports_.heartbeats.take(command))
    return close("this stream has been replaced by a newer one, or this server leads no more");
  server::ToWorker acknowledgement;
  acknowledgement.heartbeat_sent_us = beat.sent_us();
  acknowledge(std::move(acknowledgement));
}

void WorkerStreamLink::take_reports(const v1::WorkerMessage& message) {
  absl::StatusOr<core::Report> report = report_from(message);
  const size_t message_bytes = message.ByteSizeLong();
  if (!report.ok()) {
    const std::lock_guard lock(mutex_);
    return finish(to_grpc(report.status()));
  }
  report->worker = worker_;
  report->stream = stream_;
  const size_t foreign =
      std::erase_if(report->progress, [this](const core::ProgressReport& p) { return !given_.has(p.execution); });
  if (foreign > 0) ports_.refused_claims.count(server::Claim::Report, static_cast<int64_t>(foreign));
  report->progress = progress_.pass(std::move(report->progress), ports_.clock.now().mono);
  for (const core::ResultReport& r : report->results) {
    if (auto last = progress_.take(r.execution)) report->progress.push_back(std::move(*last));
    // From its own word on, nothing more is printed; what was lost may still have output on the way.
    given_.end(r.execution, r.outcome == core::Outcome::Lost ? std::nullopt : r.log_bytes);
  }
  std::vector<core::Report> pieces = in_pieces(std::move(*report), kMaxReportItems);
  // One that comes to nothing is let through to the loop all the same if it was large: who sends many is not read on.
  if (pieces.empty() && message_bytes > kReportOverhead) pieces.push_back({.worker = worker_, .stream = stream_});
  if (pieces.empty()) return;
  const size_t bytes = kReportOverhead * pieces.size() + message_bytes;
  {
    const std::lock_guard lock(mutex_);
    undecided_bytes_ += bytes;
  }
  for (core::Report& piece : pieces) {
    // In order: when the last one is decided, all are.
    const size_t decided_bytes = &piece == &pieces.back() ? bytes : 0;
    ports_.loop.post(std::move(piece),
                     [self = shared_from_this(), decided_bytes](const absl::StatusOr<core::Reply>& reply) {
                       self->decided(reply, decided_bytes);
                     });
  }
}

void WorkerStreamLink::decided(const absl::StatusOr<core::Reply>& reply, size_t bytes) {
  if (reply.ok()) {
    const std::vector<bool>& accepted = std::get<core::Reported>(*reply).accepted;
    const auto refused = std::count(accepted.begin(), accepted.end(), false);
    if (refused > 0) ports_.refused_claims.count(server::Claim::Report, refused);
  }
  const std::lock_guard lock(mutex_);
  undecided_bytes_ -= bytes;
  // While the store is away, or its disk is full, the stream stays open for heartbeats. It is closed when the store has
  // been loaded again; then the worker says everything once more.
  const bool store_is_away = absl::IsUnavailable(reply.status()) || absl::IsResourceExhausted(reply.status());
  if (!reply.ok() && !store_is_away) return finish(to_grpc(reply.status()));
  read_next();
}

absl::Status WorkerStreamLink::take_out_foreign(std::vector<store::LogPiece>& pieces) {
  server::ToWorker answer;
  absl::Status trouble;
  std::erase_if(pieces, [&](const store::LogPiece& piece) {
    const absl::StatusOr<std::optional<std::string>> against = given_.against(piece, worker_);
    if (!against.ok()) trouble = against.status();
    if (!against.ok() || !*against) return false;
    ports_.refused_claims.count(server::Claim::Log);
    answer.logs.push_back({piece.execution, piece.offset + static_cast<int64_t>(piece.data.size())});
    if (answer.words.size() < kMaxWords) answer.words.push_back(**against);
    return true;
  });
  if (!answer.logs.empty()) acknowledge(std::move(answer));
  return trouble;
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
  if (bad.ok()) bad = take_out_foreign(pieces);
  if (bad.ok() && pieces.empty()) return;
  const std::lock_guard lock(mutex_);
  if (bad.ok()) bad = output_.take(shared_from_this(), std::move(pieces));
  if (!bad.ok()) finish(to_grpc(bad));
}

void WorkerStreamLink::room() {
  const std::lock_guard lock(mutex_);
  if (const absl::Status bad = output_.room(shared_from_this()); !bad.ok()) finish(to_grpc(bad));
  read_next();
}

}  // namespace hodei::api
