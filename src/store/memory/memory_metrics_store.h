// Samples in memory, for tests.
#pragma once

#include <map>
#include <mutex>

#include "src/store/metrics_store.h"

namespace hodei::store {

class MemoryMetricsStore final : public MetricsStore {
 public:
  absl::Status append(const std::vector<MetricSample>& samples) override;
  absl::Status forget_before(WallTime limit) override;
  absl::Status read(const MetricQuery& query, const SampleVisitor& visit) override;

 private:
  std::mutex mutex_;
  std::map<WorkerId, std::multimap<WallTime, MetricSample>> samples_;
};

}  // namespace hodei::store
