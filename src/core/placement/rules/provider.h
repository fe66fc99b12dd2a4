// A job that names a provider runs only on workers which that provider created.
#pragma once

#include "src/base/text.h"
#include "src/core/placement/rules/rule.h"

namespace hodei::core {

inline std::optional<std::string> rejects_provider(const Shape& shape, const WorkerInfo& worker) {
  if (shape.provider.empty() || shape.provider == worker.provider) return std::nullopt;
  return cat("comes from provider '", worker.provider, "', but the job needs '", shape.provider, "'");
}

}  // namespace hodei::core
