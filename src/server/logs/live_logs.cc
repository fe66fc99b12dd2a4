#include "src/server/logs/live_logs.h"

#include <algorithm>
#include <utility>

namespace hodei::server {

void wake_all(const Waiters& waiters) {
  for (const std::weak_ptr<LogWaiter>& waiter : waiters) {
    if (const std::shared_ptr<LogWaiter> alive = waiter.lock()) alive->wake();
  }
}

LiveLogs::Job& LiveLogs::job(JobId id) {
  std::unique_ptr<Job>& found = jobs_[id];
  if (found == nullptr) found = std::make_unique<Job>();
  return *found;
}

void LiveLogs::change(Job& job, Waiters& to_wake) {
  ++job.version;
  to_wake.insert(to_wake.end(), job.waiters.begin(), job.waiters.end());
  job.waiters.clear();
}

Waiters LiveLogs::publish(std::vector<std::shared_ptr<const LivePiece>> pieces) {
  Waiters to_wake;
  const std::lock_guard lock(mutex_);
  for (std::shared_ptr<const LivePiece>& piece : pieces) {
    const ExecutionId execution = piece->piece.execution;
    Job& it = job(execution.job);
    it.tails[execution.number] = {.next_offset = piece->end(),
                                  .next_line = piece->first_line + static_cast<int64_t>(piece->piece.lines.size()),
                                  .ended = piece->piece.end};
    buffer(execution.job, it, std::move(piece));
    change(it, to_wake);
    erase_if_idle(execution.job);
  }
  return to_wake;
}

void LiveLogs::buffer(JobId id, Job& it, std::shared_ptr<const LivePiece> piece) {
  if (it.buffer.cost() > 0) by_recency_.erase(it.recency);
  buffered_bytes_ -= it.buffer.cost();
  it.buffer.add(std::move(piece), limits_.buffer_entries, limits_.buffer_bytes);
  buffered_bytes_ += it.buffer.cost();
  if (it.buffer.cost() > 0) it.recency = by_recency_.insert(by_recency_.end(), id);
  while (buffered_bytes_ > limits_.all_buffers_bytes) drop_buffer(*jobs_.at(by_recency_.front()));
}

void LiveLogs::drop_buffer(Job& it) {
  if (it.buffer.cost() == 0) return;
  by_recency_.erase(it.recency);
  buffered_bytes_ -= it.buffer.cost();
  it.buffer.clear();
}

std::optional<store::LogTail> LiveLogs::tail(ExecutionId execution) const {
  const std::lock_guard lock(mutex_);
  const auto it = jobs_.find(execution.job);
  if (it == jobs_.end()) return std::nullopt;
  const auto tail = it->second->tails.find(execution.number);
  if (tail == it->second->tails.end()) return std::nullopt;
  return tail->second;
}

Waiters LiveLogs::printed(JobId id, const std::vector<Printed>& executions, Now now) {
  Waiters to_wake;
  const std::lock_guard lock(mutex_);
  const auto it = jobs_.find(id);
  if (it == jobs_.end() || executions.empty()) return to_wake;
  for (const Printed& each : executions) {
    const Duration since = each.ended.is_set() ? std::max(now.wall - each.ended, Duration(0)) : Duration(0);
    const MonoTime late_at = now.mono + std::max(limits_.end_grace - since, Duration(0));
    it->second->printed.try_emplace(each.execution, EndedLog{each.bytes, late_at}).first->second.bytes = each.bytes;
  }
  change(*it->second, to_wake);
  erase_if_idle(id);
  return to_wake;
}

Waiters LiveLogs::finish(JobId id, uint32_t last_execution, MonoTime give_up_at, MonoTime now) {
  Waiters to_wake;
  const std::lock_guard lock(mutex_);
  const auto it = jobs_.find(id);
  if (it == jobs_.end()) return to_wake;
  it->second->last_execution = last_execution;
  it->second->give_up_at = std::min(it->second->give_up_at, give_up_at);
  it->second->gave_up = it->second->give_up_at <= now;
  change(*it->second, to_wake);
  erase_if_idle(id);
  return to_wake;
}

Waiters LiveLogs::give_up(MonoTime now) {
  Waiters to_wake;
  const std::lock_guard lock(mutex_);
  std::vector<JobId> changed;
  for (auto& [id, it] : jobs_) {
    const MonoTime before = std::exchange(it->looked_at, now);
    const bool is_late = std::any_of(it->printed.begin(), it->printed.end(), [&](const auto& log) {
      return log.second.late_at > before && log.second.late_at <= now;
    });
    const bool gave_up = it->gave_up || it->give_up_at <= now;
    if (!is_late && gave_up == it->gave_up) continue;
    it->gave_up = gave_up;
    change(*it, to_wake);
    changed.push_back(id);
  }
  for (const JobId id : changed) erase_if_idle(id);
  return to_wake;
}

Waiters LiveLogs::forget(JobId id) {
  Waiters to_wake;
  const std::lock_guard lock(mutex_);
  const auto it = jobs_.find(id);
  if (it == jobs_.end()) return to_wake;
  drop_buffer(*it->second);
  it->second->tails.clear();
  it->second->cleared = true;
  change(*it->second, to_wake);
  erase_if_idle(id);
  return to_wake;
}

Waiters LiveLogs::stop() {
  Waiters to_wake;
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (auto& [id, it] : jobs_) change(*it, to_wake);
  return to_wake;
}

void LiveLogs::enter(JobId id) {
  const std::lock_guard lock(mutex_);
  ++job(id).subscribers;
}

void LiveLogs::leave(JobId id) {
  const std::lock_guard lock(mutex_);
  Job& it = *jobs_.at(id);
  --it.subscribers;
  // The leaving one may have been waiting; a silent job must not collect the dead.
  std::erase_if(it.waiters, [](const std::weak_ptr<LogWaiter>& waiter) { return waiter.expired(); });
  erase_if_idle(id);
}

bool LiveLogs::has_ended(const Job& job, uint32_t execution, const store::LogTail& tail) {
  const auto printed = job.printed.find(execution);
  return tail.ended || (printed != job.printed.end() && tail.next_offset >= printed->second.bytes);
}

// Nobody watches, and nothing more will be printed: all that is known here can be had from the store.
void LiveLogs::erase_if_idle(JobId id) {
  const auto it = jobs_.find(id);
  if (it == jobs_.end() || it->second->subscribers > 0) return;
  const Job& job = *it->second;
  const bool all_ended = std::all_of(job.tails.begin(), job.tails.end(),
                                     [&](const auto& entry) { return has_ended(job, entry.first, entry.second); });
  if (!all_ended && !it->second->gave_up) return;
  drop_buffer(*it->second);
  jobs_.erase(it);
}

Glimpse LiveLogs::look(JobId id, uint32_t execution, int64_t offset) const {
  const std::lock_guard lock(mutex_);
  Glimpse out{.stopped = stopped_};
  const auto it = jobs_.find(id);
  if (it == jobs_.end()) return out;
  const Job& found = *it->second;
  out.version = found.version;
  out.piece = found.buffer.find({id, execution}, offset);
  if (const auto tail = found.tails.find(execution); tail != found.tails.end()) out.tail = tail->second;
  if (const auto next = found.tails.upper_bound(execution); next != found.tails.end()) out.next_execution = next->first;
  if (const auto all = found.printed.find(execution); all != found.printed.end()) out.printed = all->second.bytes;
  out.silent_until = execution;
  for (auto next = found.printed.upper_bound(execution); next != found.printed.end(); ++next) {
    if (next->first != out.silent_until + 1 || next->second.bytes > 0) break;
    out.silent_until = next->first;
  }
  for (auto next = found.printed.upper_bound(execution); next != found.printed.end() && !out.next_printed; ++next) {
    if (next->second.bytes == 0) continue;
    out.next_printed = Printed{next->first, next->second.bytes};
    out.late = next->second.late_at <= found.looked_at;
  }
  out.finished = found.last_execution.has_value();
  out.last_execution = found.last_execution.value_or(0);
  out.gave_up = found.gave_up;
  out.cleared = found.cleared;
  return out;
}

bool LiveLogs::wait(JobId id, uint64_t version, std::weak_ptr<LogWaiter> waiter) {
  const std::lock_guard lock(mutex_);
  Job& it = *jobs_.at(id);
  if (stopped_ || it.version != version) return false;
  it.waiters.push_back(std::move(waiter));
  return true;
}

size_t LiveLogs::buffered_bytes() const {
  const std::lock_guard lock(mutex_);
  return buffered_bytes_;
}

size_t LiveLogs::subscribers() const {
  const std::lock_guard lock(mutex_);
  size_t sum = 0;
  for (const auto& [id, it] : jobs_) sum += it->subscribers;
  return sum;
}

}  // namespace hodei::server
