#include "src/worker/agent/stream_messages.h"

#include "src/worker/system/journal.h"

namespace hodei::worker {
namespace {

v1::JobResult::Outcome outcome(Outcome o) {
  switch (o) {
    case Outcome::Succeeded: return v1::JobResult::Succeeded;
    case Outcome::Failed: return v1::JobResult::Failed;
    case Outcome::Cancelled: return v1::JobResult::Cancelled;
    case Outcome::TimedOut: return v1::JobResult::TimedOut;
    case Outcome::Lost: return v1::JobResult::Lost;
    case Outcome::Interrupted: return v1::JobResult::Interrupted;
  }
  return v1::JobResult::Lost;
}

}  // namespace

void put_hello(const SendHello& hello, const std::string& session_id, const StartedAs& self, v1::WorkerMessage& out) {
  v1::Hello& message = *out.mutable_hello();
  message.set_session_id(session_id);
  message.set_incarnation(self.incarnation);
  message.set_lineage(self.lineage);
  message.set_generation(self.generation);
  message.set_stopping(hello.stopping);
  message.set_has_log_window(true);
  message.set_lists_active(true);
  message.mutable_stopped()->Assign(self.stopped.begin(), self.stopped.end());
  for (const Held& held : hello.held) {
    v1::HeldExecution& each = *message.add_held();
    each.set_execution_id(to_string(held.execution));
    each.set_started(held.started);
    each.set_ended(held.ended);
    each.set_interrupted(held.ended && held.exit.outcome == Outcome::Interrupted);
  }
}

void put_started(const SendStarted& started, v1::WorkerMessage& out) {
  v1::JobStarted& message = *out.add_started();
  message.set_execution_id(to_string(started.execution));
  message.set_at_us(started.at.us);
  message.set_pid(started.pid);
}

void put_result(const Exit& exit, v1::WorkerMessage& out) {
  v1::JobResult& message = *out.add_results();
  message.set_execution_id(to_string(exit.execution));
  message.set_outcome(outcome(exit.outcome));
  message.set_exit_code(exit.exit_code);
  message.set_signal(exit.signal);
  message.set_failure(exit.failure);
  message.set_message(exit.message);
  message.set_started_us(exit.started.us);
  message.set_ended_us(exit.ended.us);
  const Usage& usage = exit.facts.usage;
  message.mutable_usage()->set_cpu_ms(usage.cpu_ms);
  message.mutable_usage()->set_max_memory_kb(usage.max_memory_kb);
  message.mutable_usage()->set_io_read_bytes(usage.io_read_bytes);
  message.mutable_usage()->set_io_write_bytes(usage.io_write_bytes);
  message.set_prepared_us(exit.facts.prepared.us);
  message.set_dropped_bytes(exit.facts.dropped_bytes);
  message.set_dropped_lines(exit.facts.dropped_lines);
  for (const std::string& name : exit.facts.secrets) message.add_secrets(name);
  message.mutable_outputs()->insert(exit.facts.outputs.begin(), exit.facts.outputs.end());
  message.set_log_bytes(exit.log_bytes);
}

void put_progress(ExecutionId execution, const ProgressLine& progress, v1::WorkerMessage& out) {
  v1::JobProgress& message = *out.add_progress();
  message.set_execution_id(to_string(execution));
  message.set_percentage(progress.percent);
  message.set_message(progress.message);
}

void put_usage(const std::vector<LiveUsage>& usage, v1::Heartbeat& out) {
  for (const LiveUsage& each : usage) {
    v1::ExecutionUsage& message = *out.add_executions();
    message.set_execution_id(to_string(each.execution));
    message.set_cpu_ms(each.cpu_ms);
    message.set_memory_kb(each.memory_kb);
    message.set_io_read_bytes(each.io_read_bytes);
    message.set_io_write_bytes(each.io_write_bytes);
  }
}

void put_log(LogPart part, v1::WorkerMessage& out) {
  v1::LogBatch& message = *out.add_logs();
  message.set_execution_id(to_string(part.execution));
  message.set_offset(static_cast<int64_t>(part.offset));
  message.set_lost(static_cast<int64_t>(part.lost));
  message.set_end(part.end);
  message.mutable_lines()->Reserve(static_cast<int>(part.lines.size()));
  message.mutable_time_deltas_us()->Reserve(static_cast<int>(part.lines.size()));
  if (!part.lines.empty()) message.set_first_time_us(part.lines.front().time.us);
  int64_t before = message.first_time_us();
  for (const Line& line : part.lines) {
    message.add_lines(line.length << 2 | uint32_t{line.partial} << 1 | static_cast<uint32_t>(line.stream));
    message.add_time_deltas_us(line.time.us - before);
    before = line.time.us;
  }
  message.set_data(std::move(part.data));
}

std::optional<ExecutionId> read_execution(const std::string& text) {
  const absl::StatusOr<ExecutionId> id = parse_execution_id(text);
  if (id.ok()) return *id;
  say("the server sent an invalid execution id: ", std::string(id.status().message()));
  return std::nullopt;
}

std::optional<RunOrder> read_order(v1::RunJob& run) {
  const std::optional<ExecutionId> id = read_execution(run.execution_id());
  if (!id) return std::nullopt;
  return RunOrder{.execution = *id,
                  .job_id = run.job_id(),
                  .attempt = static_cast<uint32_t>(std::max(run.attempt(), 0)),
                  .epoch = run.epoch(),
                  .spec = std::move(*run.mutable_spec()),
                  .secrets = {run.secrets().begin(), run.secrets().end()},
                  .secret_error = run.secret_error(),
                  .input_error = run.input_error(),
                  .traceparent = run.traceparent()};
}

}  // namespace hodei::worker
