#include "src/server/metrics/sample_watchers.h"

#include <utility>

namespace hodei::server {

uint64_t SampleWatchers::watch(Watcher watcher) {
  uint64_t id = 0;
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = watchers_.empty();
    id = next_++;
    watchers_[id] = std::move(watcher);
    watched_ = true;
  }
  if (first) on_first_();
  return id;
}

void SampleWatchers::unwatch(uint64_t id) {
  const std::lock_guard lock(mutex_);
  watchers_.erase(id);
  watched_ = !watchers_.empty();
}

void SampleWatchers::publish(const std::vector<store::MetricSample>& samples) {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, watcher] : watchers_) watcher(samples);
}

}  // namespace hodei::server
