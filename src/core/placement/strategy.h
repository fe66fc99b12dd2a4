// Strategies choose one of the suitable workers (docs/semantics.md#strategies).
//
// Every strategy orders workers by rank + favour. The rank depends only on the worker, so workers are kept sorted by
// it. The favour depends only on the fixed properties of shape and worker.
#pragma once

#include <algorithm>

#include "src/core/placement/score.h"

namespace hodei::core {

// Larger than every rank: workers that a shape should avoid come after all others.
inline constexpr double kAvoided = 1e12;

double rank_of(const LiveWorker& worker, const SchedulerConfig& config);

// A soft taint costs half of the affinity score. It only moves a worker behind others; it rejects none.
inline double affinity_points(const Fit& fit, const SchedulerConfig& config) {
  return config.affinity * (fit.affinity - (fit.avoided ? 0.5 : 0));
}

inline double favour_of(const Fit& fit, const SchedulerConfig& config) {
  if (config.strategy == Strategy::Smart || config.strategy == Strategy::Affinity) {
    return affinity_points(fit, config) + config.zone * fit.zone;
  }
  return fit.avoided ? -kAvoided : 0;
}

// Whether the score is above the threshold. Strategies without a score accept every suitable worker.
inline bool is_kept(double rank, const Fit& fit, const SchedulerConfig& config) {
  switch (config.strategy) {
    case Strategy::Smart:
    case Strategy::Affinity: return rank + std::max(favour_of(fit, config), 0.0) > config.threshold;
    case Strategy::ResourcePriority: return rank > config.threshold;
    case Strategy::RoundRobin:
    case Strategy::LeastConnections: break;
  }
  return true;
}

// The parts of the score that the strategy uses.
Score score_of(const LiveWorker& worker, const Fit& fit, const SchedulerConfig& config);

}  // namespace hodei::core
