#include "src/worker/agent/execution_side.h"

#include <utility>

#include "src/base/trace.h"
#include "src/worker/agent/program_builder.h"
#include "src/worker/agent/stream_messages.h"
#include "src/worker/system/journal.h"

namespace hodei::worker {

void ExecutionSide::hear(Now now) {
  for (const run::Event& event : parts_.runner.take_events()) {
    std::visit([&](const auto& each) { on(each, now); }, event);
  }
}

void ExecutionSide::on(const run::Ready& ready, Now now) { parts_.flow.ready(ready, now); }

void ExecutionSide::on(const run::Started& started, Now) {
  parts_.flow.started(started);
  ++parts_.figures.started;
}

void ExecutionSide::on(const run::Exited& exited, Now now) {
  if (!parts_.flow.exited(exited)) return;
  parts_.pace.note_end(now.mono);
  note_exit(exited.exit);
}

void ExecutionSide::on(const run::Ended& ended, Now) { parts_.flow.ended(ended); }

void ExecutionSide::on(const run::UsageRead& usage, Now) { parts_.usage.store(usage.executions); }

void ExecutionSide::on(const run::LinesDropped& dropped, Now) { parts_.dropped_lines = dropped.lines; }

void ExecutionSide::on(const run::StopAsked&, Now now) { parts_.session.stop_gracefully(now); }

void ExecutionSide::on(const run::Gone& gone, Now) {
  say(gone.why);
  is_orphaned_ = true;
}

void ExecutionSide::hear_masks() {
  for (MaskBuilder::Made& made : parts_.masks.take()) parts_.pump.set_mask(made.execution, std::move(made.mask));
}

void ExecutionSide::note_exit(const Exit& exit) {
  ++parts_.figures.ended[static_cast<size_t>(exit.outcome)];
  parts_.figures.log_dropped_bytes += static_cast<uint64_t>(exit.facts.dropped_bytes);
  const auto trace = traces_.find(exit.execution);
  if (trace == traces_.end()) return;
  journal(Level::Debug, "worker", "execution=", to_string(exit.execution), " trace=", trace->second,
          " ended exit_code=", exit.exit_code, " signal=", exit.signal, " failure=", exit.failure);
  traces_.erase(trace);
}

void ExecutionSide::act(StartExecution& start, Now) {
  const ExecutionId execution = start.order.execution;
  if (journal_wants(Level::Debug)) {
    const std::optional<TraceContext> trace = parse_traceparent(start.order.traceparent);
    traces_[execution] = trace ? trace_text(trace->trace) : std::string();
    journal(Level::Debug, "worker", "execution=", to_string(execution), " trace=", traces_[execution],
            " attempt=", start.order.attempt, " starts");
  }
  Program program = build_program(start.order, parts_.reports.environment_of(execution));
  if (!start.order.secrets.empty()) parts_.notes[execution].secrets = std::move(start.order.secrets);
  parts_.masks.ask(execution);
  parts_.runner.start({std::move(start.order), std::move(program)});
}

void ExecutionSide::act(KillExecution& kill, Now now) { parts_.flow.kill(kill, now); }

void ExecutionSide::act(ExtendLease& lease, Now) { parts_.runner.extend_lease(lease.until); }

void ExecutionSide::act(ForgetExecution& forget, Now) {
  const ExecutionId execution = forget.execution;
  parts_.flow.forget(execution);
  parts_.reports.forget(execution);
  parts_.notes.erase(execution);
  traces_.erase(execution);
}

void ExecutionSide::put_output(Now now) {
  for (LogPart& part : parts_.flow.take_output(now)) put_log(std::move(part), parts_.outgoing.add());
  for (const auto& [execution, progress] : parts_.reports.take_due(now.mono)) {
    put_progress(execution, progress, parts_.outgoing.add());
  }
}

}  // namespace hodei::worker
