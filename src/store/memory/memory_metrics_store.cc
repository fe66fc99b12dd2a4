#include "src/store/memory/memory_metrics_store.h"

#include <algorithm>

namespace hodei::store {

absl::Status MemoryMetricsStore::append(const std::vector<MetricSample>& samples) {
  const std::lock_guard lock(mutex_);
  for (const MetricSample& sample : samples) samples_[sample.worker].emplace(sample.at, sample);
  return absl::OkStatus();
}

absl::Status MemoryMetricsStore::forget_before(WallTime limit) {
  const std::lock_guard lock(mutex_);
  for (auto& [worker, series] : samples_) series.erase(series.begin(), series.lower_bound(limit));
  return absl::OkStatus();
}

absl::Status MemoryMetricsStore::read(const MetricQuery& query, const SampleVisitor& visit) {
  const std::lock_guard lock(mutex_);
  for (const auto& [worker, series] : samples_) {
    const bool wanted = query.workers.empty() || std::count(query.workers.begin(), query.workers.end(), worker) > 0;
    if (!wanted) continue;
    for (auto it = series.lower_bound(query.from); it != series.end() && it->first < query.until; ++it) {
      if (it->second.job == query.job && !visit(it->second)) return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

}  // namespace hodei::store
