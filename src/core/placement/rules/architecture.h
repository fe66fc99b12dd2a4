// The job asks for a processor architecture.
#pragma once

#include "src/base/text.h"
#include "src/core/placement/rules/rule.h"

namespace hodei::core {

inline std::optional<std::string> rejects_architecture(const Shape& shape, const WorkerInfo& worker) {
  if (shape.architecture.empty() || shape.architecture == worker.architecture) return std::nullopt;
  return cat("is ", worker.architecture, ", the job needs ", shape.architecture);
}

}  // namespace hodei::core
