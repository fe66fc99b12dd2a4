// A worker that was created for one namespace runs no jobs of others. Unlike the other rules it reads the job's
// namespace, which is not part of its shape, so it is evaluated for each lane.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/base/text.h"
#include "src/core/fleet/worker.h"

namespace hodei::core {

inline constexpr std::string_view kNamespaceRule = "namespace";

inline std::optional<std::string> rejects_namespace(std::string_view ns, const WorkerInfo& worker) {
  if (serves(worker, ns)) return std::nullopt;
  return cat("was created for namespace '", worker.made->ns, "' and runs no other jobs");
}

}  // namespace hodei::core
