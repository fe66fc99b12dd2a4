#include "src/core/placement/score.h"

#include <algorithm>

#include "src/core/placement/rules/labels.h"
#include "src/core/placement/rules/taints.h"

namespace hodei::core {
namespace {

double label_matches(const WorkerInfo& worker, const char* key, const std::string& wanted) {
  const auto it = worker.labels.find(key);
  return it != worker.labels.end() && it->second == wanted ? 1 : 0;
}

}  // namespace

Fit with_preferences(Fit fit, double weight, double met) {
  const double all = fit.preferred_weight + weight;
  if (all <= 0) return fit;
  fit.affinity = (fit.affinity * fit.preferred_weight + met) / all;
  fit.preferred_weight = all;
  return fit;
}

Fit fit_of(const Shape& shape, const WorkerInfo& worker) {
  Fit fit;
  if (!shape.preferred_provider.empty()) {
    fit = with_preferences(fit, kProviderWeight, shape.preferred_provider == worker.provider ? kProviderWeight : 0);
  }
  for (const LabelPreference& p : shape.prefers) {
    fit = with_preferences(fit, p.weight, holds(p.rule, worker.labels) ? p.weight : 0);
  }
  fit.avoided = std::any_of(worker.taints.begin(), worker.taints.end(), [&](const Taint& t) {
    return t.effect == TaintEffect::PreferNoSchedule && !tolerates(shape, t);
  });
  // A zone is inside a region: being in the right region but the wrong zone is worth half.
  const bool zone = !shape.preferred_zone.empty();
  const bool region = !shape.preferred_region.empty();
  const double in_zone = zone ? label_matches(worker, "zone", shape.preferred_zone) : 0;
  const double in_region = region ? label_matches(worker, "region", shape.preferred_region) : 0;
  if (zone && region) {
    fit.zone = (in_zone + in_region) / 2;
  } else if (zone || region) {
    fit.zone = std::max(in_zone, in_region);
  }
  return fit;
}

double capacity_part(const LiveWorker& worker) {
  const WorkerInfo& info = worker.record->info;
  double sum = 1.0 - static_cast<double>(worker.executions.size()) / info.slots;
  int parts = 1;
  const auto add = [&](int64_t all, int64_t used) {
    if (all <= 0) return;
    sum += std::max(0.0, 1.0 - static_cast<double>(used) / static_cast<double>(all));
    ++parts;
  };
  add(info.capacity.cpu_milli, worker.used.cpu_milli);
  add(info.capacity.memory_mb, worker.used.memory_mb);
  return sum / parts;
}

double load_part(const LiveWorker& worker) {
  const double busy = static_cast<double>(worker.executions.size()) / worker.record->info.slots;
  return 1.0 - (busy + std::clamp(worker.cpu_load, 0.0, 1.0)) / 2;
}

}  // namespace hodei::core
