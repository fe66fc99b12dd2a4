#include "src/core/placement/strategy.h"

#include <algorithm>

namespace hodei::core {
namespace {

// Among workers that are equally close the emptier one is taken; and what is only preferred keeps nobody out, as a
// score of exactly 0 would.
constexpr double kTieBreak = 0.01;

// Packing wants full workers. Half of it stays for an empty one: a score of 0 would never be kept.
double room(const LiveWorker& worker, const SchedulerConfig& config) {
  const double free = capacity_part(worker);
  return config.packing == Packing::Pack ? 1 - free / 2 : free;
}

// The number of executions is what packing is about; only the processor's load still speaks against a worker.
double ease(const LiveWorker& worker, const SchedulerConfig& config) {
  return config.packing == Packing::Pack ? 1 - std::clamp(worker.cpu_load, 0.0, 1.0) : load_part(worker);
}

}  // namespace

double rank_of(const LiveWorker& worker, const SchedulerConfig& config) {
  switch (config.strategy) {
    case Strategy::RoundRobin: return -static_cast<double>(worker.turn);
    case Strategy::LeastConnections: return -static_cast<double>(worker.executions.size());
    case Strategy::ResourcePriority: return config.capacity * room(worker, config) + config.load * ease(worker, config);
    case Strategy::Affinity: return kTieBreak * room(worker, config);
    case Strategy::Smart: break;
  }
  return config.capacity * room(worker, config) + config.load * ease(worker, config) + config.history * worker.success;
}

Score score_of(const LiveWorker& worker, const Fit& fit, const SchedulerConfig& config) {
  const double capacity = config.capacity * room(worker, config);
  const double load = config.load * ease(worker, config);
  switch (config.strategy) {
    case Strategy::ResourcePriority: return {capacity, load, 0, 0, 0};
    case Strategy::Affinity:
      return {kTieBreak * room(worker, config), 0, affinity_points(fit, config), config.zone * fit.zone, 0};
    case Strategy::Smart:
    case Strategy::RoundRobin:
    case Strategy::LeastConnections: break;
  }
  return {capacity, load, affinity_points(fit, config), config.zone * fit.zone, config.history * worker.success};
}

}  // namespace hodei::core
