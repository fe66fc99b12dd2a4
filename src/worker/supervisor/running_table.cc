#include "src/worker/supervisor/running_table.h"

#include <algorithm>

namespace hodei::worker {

Running& RunningTable::add(ExecutionId execution) {
  auto owned = std::make_unique<Running>();
  Running& running = *owned;
  running_[execution] = std::move(owned);
  running.execution = execution;
  if (free_indexes_.empty()) {
    free_indexes_.push_back(static_cast<uint32_t>(by_index_.size()));
    by_index_.push_back(nullptr);
  }
  running.index = free_indexes_.back();
  free_indexes_.pop_back();
  by_index_[running.index] = &running;
  return running;
}

void RunningTable::remove(Running& running) {
  // The number may already belong to a newer process.
  if (const auto it = by_pid_.find(running.pid); it != by_pid_.end() && it->second == &running) by_pid_.erase(it);
  by_index_[running.index] = nullptr;
  free_indexes_.push_back(running.index);
  running_.erase(running.execution);
}

Running* RunningTable::find(ExecutionId execution) const {
  const auto it = running_.find(execution);
  return it == running_.end() ? nullptr : it->second.get();
}

Running* RunningTable::at(uint64_t index) const { return index < by_index_.size() ? by_index_[index] : nullptr; }

Running* RunningTable::take(pid_t pid) {
  const auto it = by_pid_.find(pid);
  if (it == by_pid_.end()) return nullptr;
  Running* running = it->second;
  by_pid_.erase(it);
  return running;
}

bool RunningTable::has_living_trees() const {
  return std::any_of(begin(), end(), [](const auto& each) { return !each.second->tree_gone; });
}

std::vector<RunningTree> RunningTable::trees() const {
  std::vector<RunningTree> trees;
  for (const auto& [execution, running] : running_) {
    if (running->pid == 0 || running->main_gone) continue;
    const Place& place = *running->place;
    trees.push_back({.execution = execution,
                     .main = running->pid,
                     .cgroup = place.enclosure->cgroup(),
                     .meter = place.group ? place.group->meter() : nullptr});
  }
  return trees;
}

void EarlyExits::note(pid_t pid, const Exited& exited) {
  if (done_ != ordered_) entries_[pid] = {ordered_, exited};
}

std::optional<EarlyExits::Exited> EarlyExits::take(pid_t pid, uint64_t number) {
  const auto it = entries_.find(pid);
  if (it == entries_.end() || number > it->second.ordered) return std::nullopt;
  const Exited exited = it->second.exited;
  entries_.erase(it);
  return exited;
}

void EarlyExits::forget_strangers() {
  if (done_ == ordered_) entries_.clear();
}

}  // namespace hodei::worker
