#include "src/worker/agent/execution_flow.h"

namespace hodei::worker {

void ExecutionFlow::ready(const run::Ready& ready, Now now) {
  std::vector<Held> inventory;
  for (const run::HeldExecution& each : ready.held) {
    const ExecutionId execution = each.held.execution;
    masks_.ask(execution);
    follow_output(execution, each.output);
    if (each.output_is_complete) pump_.ended(execution, static_cast<uint64_t>(each.held.exit.log_bytes));
    inventory.push_back(each.held);
  }
  session_.attached(inventory, now);
}

void ExecutionFlow::started(const run::Started& started) {
  follow_output(started.execution, started.output);
  session_.started(started.execution, started.at, started.pid);
}

bool ExecutionFlow::exited(const run::Exited& exited) {
  if (!session_.holds(exited.exit.execution)) return false;
  pump_.ended(exited.exit.execution, static_cast<uint64_t>(exited.exit.log_bytes));
  return true;
}

void ExecutionFlow::ended(const run::Ended& ended) {
  const ExecutionId execution = ended.exit.execution;
  if (!session_.holds(execution)) return;
  if (!ended.exit.started.is_set()) pump_.ended(execution, 0);  // it never ran: nobody told that it exited
  session_.exited(ended.exit);
}

void ExecutionFlow::kill(const KillExecution& kill, Now now) {
  // Nobody wants its output any more, and a full ring must not keep it from ending.
  if (kill.why == KillReason::LeaseExpired) pump_.discard(kill.execution);
  runner_.end(kill.execution, kill.why, kill.grace, now);
}

void ExecutionFlow::forget(ExecutionId execution) {
  runner_.forget(execution);
  pump_.forget(execution);
  masks_.forget(execution);
}

void ExecutionFlow::welcomed(size_t window, const std::vector<OutputPosition>& positions,
                             const std::vector<ExecutionId>& unknown, Now now) {
  pump_.restart(window);
  for (const OutputPosition& position : positions) pump_.resume_at(position.execution, position.offset);
  session_.welcomed(unknown, now);
}

void ExecutionFlow::output_acked(const std::vector<OutputPosition>& positions) {
  for (const OutputPosition& position : positions) {
    pump_.acked(position.execution, position.offset);
    if (pump_.all_acked(position.execution)) session_.log_durable(position.execution);
  }
}

std::vector<LogPart> ExecutionFlow::take_output(Now now) {
  std::vector<LogPart> parts = pump_.take(now);
  for (const LogPart& part : parts) {
    if (!part.end) continue;
    session_.log_flushed(part.execution);
    if (pump_.all_acked(part.execution)) session_.log_durable(part.execution);
  }
  // That nothing was printed is in the result; the server need not store it a second time.
  std::erase_if(parts, [](const LogPart& part) { return part.offset + part.data.size() == 0; });
  return parts;
}

void ExecutionFlow::follow_output(ExecutionId execution, RingMemory* ring) {
  if (masks_.is_awaited(execution)) pump_.await_mask(execution);
  pump_.add(execution, ring, masks_.of(execution));
}

}  // namespace hodei::worker
