// Caches the usage of running executions. A measurement examines every process, and nobody needs a newer value.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "src/base/time.h"
#include "src/worker/limits/live_usage.h"

namespace hodei::worker {

class UsageCache {
 public:
  static constexpr Duration kLife = 35s;

  // Whether a new reading is due; true once per period. While somebody watches, the period is that of heartbeats.
  bool is_due(MonoTime now, Duration watched_beat = Duration::zero()) {
    const Duration life = watched_beat > Duration::zero() ? std::min(watched_beat, kLife) : kLife;
    if (asked_ && now < *asked_ + life) return false;
    asked_ = now;
    return true;
  }
  void store(const std::vector<LiveUsage>& usage) {
    read_.clear();
    if (usage.empty()) asked_.reset();  // too early: what was held had not started
    for (const LiveUsage& each : usage) read_[each.execution] = each;
  }
  // Those of the given ones that were running when it was read.
  std::vector<LiveUsage> of(const std::vector<ExecutionId>& executions) const {
    std::vector<LiveUsage> found;
    for (const ExecutionId id : executions) {
      if (const auto it = read_.find(id); it != read_.end()) found.push_back(it->second);
    }
    return found;
  }

 private:
  std::optional<MonoTime> asked_;
  std::map<ExecutionId, LiveUsage> read_;
};

}  // namespace hodei::worker
