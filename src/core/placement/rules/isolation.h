// The worker must isolate jobs at least as strongly as the job asks for.
#pragma once

#include "src/core/placement/rules/rule.h"

namespace hodei::core {

inline std::optional<std::string> rejects_isolation(const Shape& shape, const WorkerInfo& worker) {
  if (worker.isolation >= shape.isolation) return std::nullopt;
  return std::string(shape.isolation == Isolation::Hardware ? "has no hardware isolation"
                                                            : "has no container isolation");
}

}  // namespace hodei::core
