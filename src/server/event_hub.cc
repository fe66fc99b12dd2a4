#include "src/server/event_hub.h"

namespace hodei::server {

uint64_t EventHub::watch_job(JobId job, Watcher watcher) {
  const std::lock_guard lock(mutex_);
  entries_[next_] = {job, std::move(watcher)};
  by_job_.emplace(job, next_);
  return next_++;
}

uint64_t EventHub::watch_all(Watcher watcher) { return watch_job(JobId{}, std::move(watcher)); }

void EventHub::unwatch(uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find(id);
  if (it == entries_.end()) return;
  const auto [first, last] = by_job_.equal_range(it->second.job);
  for (auto entry = first; entry != last; ++entry) {
    if (entry->second == id) {
      by_job_.erase(entry);
      break;
    }
  }
  entries_.erase(it);
}

void EventHub::publish(JobEvent event) {
  const std::lock_guard lock(mutex_);
  if (entries_.empty()) return;
  const auto shared = std::make_shared<const JobEvent>(std::move(event));
  for (const JobId key : {JobId{}, shared->job->id}) {
    const auto [first, last] = by_job_.equal_range(key);
    for (auto entry = first; entry != last; ++entry) entries_.at(entry->second).watcher(shared);
  }
  if (!core::is_terminal(shared->job->state)) return;
  // Nothing more will come for this job: its watchers are done.
  const auto [first, last] = by_job_.equal_range(shared->job->id);
  for (auto entry = first; entry != last; ++entry) entries_.erase(entry->second);
  by_job_.erase(first, last);
}

}  // namespace hodei::server
