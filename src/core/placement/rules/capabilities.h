// The worker must be able to run this kind of command, and whatever else the job asks for.
#pragma once

#include <algorithm>

#include "src/base/text.h"
#include "src/core/placement/rules/rule.h"

namespace hodei::core {

inline std::optional<std::string> rejects_capabilities(const Shape& shape, const WorkerInfo& worker) {
  for (const std::string& needed : shape.capabilities) {
    if (!std::binary_search(worker.capabilities.begin(), worker.capabilities.end(), needed)) {
      return cat("lacks the capability '", needed, "'");
    }
  }
  return std::nullopt;
}

}  // namespace hodei::core
