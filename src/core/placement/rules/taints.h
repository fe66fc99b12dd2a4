// A worker with hard taints takes only jobs that tolerate all of them.
#pragma once

#include <algorithm>

#include "src/base/text.h"
#include "src/core/placement/rules/rule.h"

namespace hodei::core {

inline bool tolerates(const Shape& shape, const Taint& taint) {
  return std::any_of(shape.tolerations.begin(), shape.tolerations.end(), [&](const Toleration& t) {
    return (t.key.empty() || t.key == taint.key) && (t.value.empty() || t.value == taint.value);
  });
}

inline std::optional<std::string> rejects_taints(const Shape& shape, const WorkerInfo& worker) {
  for (const Taint& taint : worker.taints) {
    if (taint.effect == TaintEffect::PreferNoSchedule || tolerates(shape, taint)) continue;
    return cat("has the taint ", taint.key, "=", taint.value, ", which the job does not tolerate");
  }
  return std::nullopt;
}

}  // namespace hodei::core
