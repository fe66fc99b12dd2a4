// A job that names a pool runs only on the pool's workers (label `pool`).
#pragma once

#include "src/base/text.h"
#include "src/core/placement/rules/rule.h"

namespace hodei::core {

inline std::optional<std::string> rejects_pool(const Shape& shape, const WorkerInfo& worker) {
  if (shape.pool.empty()) return std::nullopt;
  const auto it = worker.labels.find("pool");
  if (it != worker.labels.end() && it->second == shape.pool) return std::nullopt;
  return cat("is not in pool '", shape.pool, "'");
}

}  // namespace hodei::core
