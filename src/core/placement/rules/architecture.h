// The worker must have the processor architecture that the job asks for.
#pragma once

#include "src/base/text.h"
#include "src/core/placement/rules/rule.h"

namespace hodei::core {

// The name that `uname -m` prints; images and packages use other names.
inline std::string_view machine_name(std::string_view architecture) {
  if (architecture == "amd64") return "x86_64";
  return architecture == "arm64" ? "aarch64" : architecture;
}

inline std::optional<std::string> rejects_architecture(const Shape& shape, const WorkerInfo& worker) {
  if (shape.architecture.empty() || machine_name(shape.architecture) == machine_name(worker.architecture))
    return std::nullopt;
  return cat("is ", worker.architecture, ", but the job needs ", shape.architecture);
}

}  // namespace hodei::core
