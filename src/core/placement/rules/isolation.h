// The job asks for at least this much isolation from others.
#pragma once

#include "src/core/placement/rules/rule.h"

namespace hodei::core {

inline std::optional<std::string> rejects_isolation(const Shape& shape, const WorkerInfo& worker) {
  if (worker.isolation >= shape.isolation) return std::nullopt;
  return std::string(shape.isolation == Isolation::Hardware ? "does not isolate by hardware"
                                                            : "does not isolate by container");
}

}  // namespace hodei::core
