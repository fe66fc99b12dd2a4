#include "src/worker/core/kept_executions.h"

namespace hodei::worker {

std::vector<Held> KeptExecutions::inventory() const {
  std::vector<Held> out;
  out.reserve(held_.size());
  for (const auto& [id, entry] : held_) {
    out.push_back(
        {.execution = id, .started = entry.spawned, .ended = entry.ended, .pid = entry.pid, .exit = entry.exit});
  }
  return out;
}

KeptExecutions::Entry& KeptExecutions::add(const StartOrder& order) {
  Entry& entry = held_[order.execution];
  entry.order = order;
  entry.exit.execution = order.execution;
  return entry;
}

KeptExecutions::Entry* KeptExecutions::find_alive(ExecutionId execution) {
  const auto it = held_.find(execution);
  return it == held_.end() || it->second.ended ? nullptr : &it->second;
}

void KeptExecutions::sigkill(Entry& entry) {
  entry.sigkilled = true;
  set_deadline(entry, kNever);
  at_risk_.erase(entry.order.execution);
}

void KeptExecutions::set_deadline(Entry& entry, MonoTime at) {
  const ExecutionId id = entry.order.execution;
  if (entry.deadline != kNever) deadlines_.erase({entry.deadline, id});
  entry.deadline = at;
  if (at != kNever) deadlines_.emplace(at, id);
}

}  // namespace hodei::worker
