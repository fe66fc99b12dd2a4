#include "src/api/calls/workers/worker_messages.h"

#include <algorithm>
#include <cctype>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "src/api/calls/translate.h"
#include "src/base/clip.h"
#include "src/base/finite.h"
#include "src/base/printable.h"
#include "src/base/sha256.h"
#include "src/base/status.h"
#include "src/base/trace.h"
#include "src/core/fleet/worker.h"

namespace hodei::api {
namespace {

constexpr size_t kMaxStatusMessageBytes = size_t{2} << 20;
constexpr int kMaxHeld = core::kMaxSlots + core::kMaxEndedHeld;
constexpr size_t kMaxUnfit = 500;  // characters of a worker's status
constexpr size_t kMaxLineage = 64;
constexpr int kMaxStopped = 16;
constexpr size_t kMaxIncarnation = 100;
constexpr size_t kMaxProgressMessage = 4096;  // what the core keeps of it

size_t cost(const server::ToWorker::Run& run) {
  return run.spec->bytes.size() + 64 + (run.has_secrets ? core::kMaxSecretBytes : 0);
}

void add(const server::ToWorker::Run& run, uint64_t epoch, const OpenSecrets& open_secrets, v1::ServerMessage* out) {
  v1::RunJob* order = out->add_run();
  order->set_execution_id(to_string(run.execution));
  order->set_job_id(public_id(run.execution.job));
  order->set_attempt(static_cast<int>(run.attempt));
  order->set_epoch(epoch);
  order->set_spec(run.spec->bytes);
  if (run.has_secrets) open_secrets(*run.spec, order);
  order->set_traceparent(traceparent_for(run.execution, run.spec->bytes));
}

void add(const server::LogPosition& position, v1::LogPosition* out) {
  out->set_execution_id(to_string(position.execution));
  out->set_offset(position.offset);
}

}  // namespace

absl::Status check_lineage(const char* field, const std::string& lineage) {
  const bool plain =
      std::all_of(lineage.begin(), lineage.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
  if (plain && lineage.size() <= kMaxLineage) return absl::OkStatus();
  return bad_field(field, "must have at most ", kMaxLineage, " letters, digits and hyphens");
}

std::string unfit_from(const std::string& status) {
  if (status.empty() || status == "ok") return {};
  return printable(clip(status, kMaxUnfit));
}

std::vector<ExecutionId> active_from(const v1::Heartbeat& beat) {
  std::vector<ExecutionId> out;
  for (const std::string& text : beat.active()) {
    if (out.size() == kMaxHeld) break;
    if (const absl::StatusOr<ExecutionId> id = parse_execution_id(text); id.ok()) out.push_back(*id);
  }
  return out;
}

absl::StatusOr<std::vector<std::string>> stopped_from(const char* field,
                                                      const google::protobuf::RepeatedPtrField<std::string>& stopped) {
  if (stopped.size() > kMaxStopped) return bad_field(field, "at most ", kMaxStopped, " incarnations");
  for (const std::string& incarnation : stopped) {
    if (incarnation.size() > kMaxIncarnation) return bad_field(field, "at most ", kMaxIncarnation, " characters each");
  }
  return std::vector<std::string>(stopped.begin(), stopped.end());
}

absl::StatusOr<core::OpenStream> hello_from(const v1::Hello& hello) {
  if (hello.held_size() > kMaxHeld) return bad_field("hello.held", "must have at most ", kMaxHeld, " executions");
  core::OpenStream out;
  out.session = secret_hash(hello.session_id());
  out.incarnation = hello.incarnation();
  out.lineage = hello.lineage();
  out.generation = hello.generation();
  out.stopping = hello.stopping();
  out.unfit = unfit_from(hello.status());
  out.lists_active = hello.lists_active();
  RETURN_IF_ERROR(check_lineage("hello.lineage", out.lineage));
  ASSIGN_OR_RETURN(out.stopped, stopped_from("hello.stopped", hello.stopped()));
  for (const v1::HeldExecution& h : hello.held()) {
    ASSIGN_OR_RETURN(const ExecutionId execution, parse_execution_id(h.execution_id()));
    out.held.push_back({execution, h.started(), h.ended(), h.interrupted()});
  }
  return out;
}

server::Beat beat_from(const v1::Heartbeat& beat, const WorkerId& worker, Now at) {
  server::Beat out;
  out.at = at;
  out.worker = worker;
  out.cpu_load = bounded(beat.cpu_load(), 0, 1, 0);
  out.memory_bytes = std::clamp<int64_t>(beat.memory_used_mb(), 0, INT64_MAX >> 20) << 20;
  out.network_rx_bytes = beat.network_rx_bytes();
  out.network_tx_bytes = beat.network_tx_bytes();
  out.disk_read_bytes = beat.disk_read_bytes();
  out.disk_write_bytes = beat.disk_write_bytes();
  absl::flat_hash_set<ExecutionId> told;
  for (auto it = beat.executions().rbegin(); it != beat.executions().rend(); ++it) {
    const v1::ExecutionUsage& usage = *it;
    const absl::StatusOr<ExecutionId> id = parse_execution_id(usage.execution_id());
    if (!id.ok() || !told.insert(*id).second) continue;
    out.executions.push_back({*id, usage.cpu_ms(), std::clamp<int64_t>(usage.memory_kb(), 0, INT64_MAX >> 10) << 10,
                              usage.io_read_bytes(), usage.io_write_bytes()});
  }
  std::reverse(out.executions.begin(), out.executions.end());
  return out;
}

absl::StatusOr<core::Report> report_from(const v1::WorkerMessage& message) {
  core::Report out;
  for (const v1::JobStarted& s : message.started()) {
    ASSIGN_OR_RETURN(const ExecutionId execution, parse_execution_id(s.execution_id()));
    out.started.push_back({execution, WallTime{s.at_us()}});
  }
  absl::flat_hash_map<ExecutionId, const v1::JobProgress*> newest;
  for (const v1::JobProgress& p : message.progress()) {
    ASSIGN_OR_RETURN(const ExecutionId execution, parse_execution_id(p.execution_id()));
    newest[execution] = &p;
  }
  for (const auto& [execution, p] : newest) {
    out.progress.push_back({execution, p->percentage(), std::string(clip(p->message(), kMaxProgressMessage))});
  }
  for (const v1::JobResult& r : message.results()) {
    ASSIGN_OR_RETURN(const ExecutionId execution, parse_execution_id(r.execution_id()));
    out.results.push_back(from_proto(r, execution));
  }
  return out;
}

std::vector<core::Report> in_pieces(core::Report report, size_t most) {
  std::vector<core::Report> out;
  size_t room = 0;
  const auto hand_out = [&](auto& from, auto member) {
    for (auto& each : from) {
      if (room == 0) {
        out.push_back({.worker = report.worker, .stream = report.stream});
        room = most;
      }
      (out.back().*member).push_back(std::move(each));
      --room;
    }
  };
  hand_out(report.started, &core::Report::started);
  hand_out(report.progress, &core::Report::progress);
  hand_out(report.results, &core::Report::results);
  return out;
}

absl::StatusOr<store::LogPiece> log_from(v1::LogBatch& batch) {
  store::LogPiece piece;
  ASSIGN_OR_RETURN(piece.execution, parse_execution_id(batch.execution_id()));
  piece.offset = batch.offset();
  piece.lost = batch.lost();
  piece.end = batch.end();
  piece.data = std::move(*batch.mutable_data());
  piece.lines.reserve(static_cast<size_t>(batch.lines_size()));
  auto time = static_cast<uint64_t>(batch.first_time_us());  // wraps; check_piece() looks at what comes of it
  uint64_t total = 0;
  for (int i = 0; i < batch.lines_size(); ++i) {
    const uint32_t packed = batch.lines(i);
    if (i < batch.time_deltas_us_size()) time += static_cast<uint64_t>(batch.time_deltas_us(i));
    piece.lines.push_back({packed >> 2, (packed & 1) != 0, (packed & 2) != 0, static_cast<int64_t>(time)});
    total += packed >> 2;
  }
  if (total != piece.data.size() || piece.offset < 0 || piece.lost < 0) {
    return absl::InvalidArgumentError(cat("logs: lines of ", batch.execution_id(), " do not add up to its data"));
  }
  return piece;
}

absl::StatusOr<store::LogPiece> log_from(v1::WorkerLogEntry& entry) {
  store::LogPiece piece;
  ASSIGN_OR_RETURN(piece.execution, parse_execution_id(entry.execution_id()));
  if (entry.offset() < 0) return bad_field("log_entries.offset", "must not be negative");
  piece.offset = entry.offset();
  piece.data = std::move(*entry.mutable_line());
  const bool partial = piece.data.empty() || piece.data.back() != '\n';
  if (!piece.data.empty()) {
    piece.lines.push_back({static_cast<uint32_t>(piece.data.size()), entry.is_stderr(), partial, entry.time_us()});
  }
  return piece;
}

void fill(std::deque<server::ToWorker>& waiting, const OpenSecrets& open_secrets, v1::ServerMessage* out) {
  out->Clear();
  size_t bytes = 0;
  while (!waiting.empty() && bytes < kMaxStatusMessageBytes) {
    server::ToWorker& m = waiting.front();
    // A welcome must be the first thing that its receiver handles.
    if (m.welcome && bytes > 0) return;
    if (m.welcome) {
      v1::Welcome* welcome = out->mutable_welcome();
      welcome->set_epoch(m.epoch);
      for (const ExecutionId& e : m.welcome->unknown) welcome->add_unknown(to_string(e));
      for (const server::LogPosition& p : m.welcome->logs) add(p, welcome->add_log_positions());
      welcome->set_log_window(m.welcome->log_window);
      m.welcome.reset();
    }
    size_t sent = 0;
    while (sent < m.run.size() && bytes < kMaxStatusMessageBytes) {
      bytes += cost(m.run[sent]);
      add(m.run[sent++], m.epoch, open_secrets, out);
    }
    if (sent < m.run.size()) {  // the rest of this one goes with the next message
      m.run.erase(m.run.begin(), m.run.begin() + static_cast<ptrdiff_t>(sent));
      return;
    }
    for (const server::ToWorker::Cancel& c : m.cancel) {
      v1::CancelExecution* cancel = out->add_cancel();
      cancel->set_execution_id(to_string(c.execution));
      cancel->set_timed_out(c.timed_out);
      cancel->set_grace_ms(c.grace.count() / 1000);
    }
    if (m.drain) {
      out->mutable_drain()->set_reason(*m.drain);
      out->mutable_drain()->set_stop(!m.drain_is_over);
    }
    if (m.stop_noted) out->mutable_ack()->set_stop_noted(true);
    for (const ExecutionId& e : m.results) out->mutable_ack()->add_results(to_string(e));
    for (const server::LogPosition& p : m.logs) add(p, out->mutable_ack()->add_logs());
    if (m.heartbeat_sent_us != 0) out->mutable_ack()->set_heartbeat_sent_us(m.heartbeat_sent_us);
    for (std::string& words : m.words) out->mutable_ack()->add_instructions(std::move(words));
    if (m.beat > Duration(0)) out->mutable_ack()->set_heartbeat_ms(m.beat.count() / 1000);
    bytes += 16 * (m.cancel.size() + m.results.size() + m.logs.size()) + 16;
    waiting.pop_front();
  }
}

}  // namespace hodei::api
