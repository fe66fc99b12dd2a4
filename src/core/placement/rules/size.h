// The worker must be large enough for the job when it is idle.
#pragma once

#include "src/base/text.h"
#include "src/core/placement/rules/rule.h"

namespace hodei::core {

inline std::optional<std::string> rejects_size(const Shape& shape, const WorkerInfo& worker) {
  const Amounts& has = worker.capacity;
  const Amounts& needs = shape.needs;
  if (has.covers(needs)) return std::nullopt;
  if (has.cpu_milli < needs.cpu_milli)
    return cat("has ", has.cpu_milli / 1000.0, " cores, but the job needs ", needs.cpu_milli / 1000.0);
  if (has.memory_mb < needs.memory_mb)
    return cat("has ", has.memory_mb, " MB of memory, but the job needs ", needs.memory_mb);
  if (has.storage_mb < needs.storage_mb)
    return cat("has ", has.storage_mb, " MB of storage, but the job needs ", needs.storage_mb);
  return std::string("has no GPU");
}

}  // namespace hodei::core
