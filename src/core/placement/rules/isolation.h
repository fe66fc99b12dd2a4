// The job asks for at least this much isolation from others.
#pragma once

#include "src/core/placement/rules/rule.h"

namespace hodei::core {

inline std::optional<std::string> rejects_isolation(const Shape& shape, const WorkerInfo& worker) {
  if (worker.isolation >= shape.isolation) return std::nullopt;
  return std::string(shape.isolation == Isolation::Hardware ? "has no hardware isolation"
                                                            : "has no container isolation");
}

}  // namespace hodei::core
