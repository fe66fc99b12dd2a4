#include "src/worker/agent/execution_side.h"

#include <utility>
#include <vector>

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

void ExecutionSide::on(const run::Ready& ready, Now now) {
  std::vector<Held> inventory;
  for (const run::HeldExecution& each : ready.held) {
    const ExecutionId execution = each.held.execution;
    parts_.masks.ask(execution);
    follow_output(execution, each.output);
    if (each.output_is_complete) parts_.pump.ended(execution, static_cast<uint64_t>(each.held.exit.log_bytes));
    inventory.push_back(each.held);
  }
  parts_.session.attached(inventory, now);
}

void ExecutionSide::on(const run::Started& started, Now) {
  follow_output(started.execution, started.output);
  parts_.session.started(started.execution, started.at, started.pid);
  ++parts_.figures.started;
}

void ExecutionSide::on(const run::Exited& exited, Now now) {
  if (!parts_.session.holds(exited.exit.execution)) return;
  parts_.pump.ended(exited.exit.execution, static_cast<uint64_t>(exited.exit.log_bytes));
  parts_.pace.note_end(now.mono);
  note_exit(exited.exit);
}

void ExecutionSide::on(const run::Ended& ended, Now) {
  const ExecutionId execution = ended.exit.execution;
  if (!parts_.session.holds(execution)) return;
  if (!ended.exit.started.is_set()) parts_.pump.ended(execution, 0);  // it never ran: nobody told that it exited
  parts_.session.exited(ended.exit);
}

void ExecutionSide::on(const run::UsageRead& usage, Now) { parts_.usage.store(usage.executions); }

void ExecutionSide::on(const run::LinesDropped& dropped, Now) { parts_.dropped_lines = dropped.lines; }

void ExecutionSide::on(const run::StopAsked&, Now now) { parts_.session.stop_gracefully(now); }

void ExecutionSide::on(const run::Gone& gone, Now) {
  say(gone.why);
  is_orphaned_ = true;
}

void ExecutionSide::follow_output(ExecutionId execution, RingMemory* ring) {
  if (parts_.masks.is_awaited(execution)) parts_.pump.await_mask(execution);
  parts_.pump.add(execution, ring, parts_.masks.of(execution));
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

void ExecutionSide::act(KillExecution& kill, Now now) {
  // Nobody wants its output any more, and a full ring must not keep it from ending.
  if (kill.why == KillReason::LeaseExpired) parts_.pump.discard(kill.execution);
  parts_.runner.end(kill.execution, kill.why, kill.grace, now);
}

void ExecutionSide::act(ExtendLease& lease, Now) { parts_.runner.extend_lease(lease.until); }

void ExecutionSide::act(ForgetExecution& forget, Now) {
  const ExecutionId execution = forget.execution;
  parts_.runner.forget(execution);
  parts_.pump.forget(execution);
  parts_.masks.forget(execution);
  parts_.reports.forget(execution);
  parts_.notes.erase(execution);
  traces_.erase(execution);
}

void ExecutionSide::put_output(Now now) {
  for (LogPart& part : parts_.pump.take(now)) {
    const ExecutionId execution = part.execution;
    const bool end = part.end;
    // That nothing was printed is in the result; the server need not store it a second time.
    if (part.offset + part.data.size() > 0) put_log(std::move(part), parts_.outgoing.add());
    if (!end) continue;
    // The receiver reads logs before results: the result may go into the same message.
    parts_.session.log_flushed(execution);
    if (parts_.pump.all_acked(execution)) parts_.session.log_durable(execution);
  }
  for (const auto& [execution, progress] : parts_.reports.take_due(now.mono)) {
    put_progress(execution, progress, parts_.outgoing.add());
  }
}

}  // namespace hodei::worker
