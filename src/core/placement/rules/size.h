// The worker must be large enough for the job when it is idle.
#pragma once

#include "src/base/sizes.h"
#include "src/base/text.h"
#include "src/core/placement/rules/rule.h"

namespace hodei::core {

inline std::optional<std::string> rejects_size(const Shape& shape, const WorkerInfo& worker) {
  const Amounts& has = worker.capacity;
  const Amounts& needs = shape.needs;
  if (has.covers(needs)) return std::nullopt;
  if (has.cpu_milli < needs.cpu_milli)
    return cat("has ", has.cpu_milli / 1000.0, " cores, but the job needs ", needs.cpu_milli / 1000.0);
  if (has.memory_mb < needs.memory_mb) {
    const auto [there, asked] = megabytes_apart(has.memory_mb, needs.memory_mb);
    return cat("has ", there, " of memory, but the job needs ", asked);
  }
  if (has.storage_mb < needs.storage_mb) {
    const auto [there, asked] = megabytes_apart(has.storage_mb, needs.storage_mb);
    return cat("has ", there, " of storage, but the job needs ", asked);
  }
  return std::string("has no GPU");
}

}  // namespace hodei::core
