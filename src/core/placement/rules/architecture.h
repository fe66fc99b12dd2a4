// The job asks for a processor architecture.
#pragma once

#include "src/base/text.h"
#include "src/core/placement/rules/rule.h"

namespace hodei::core {

// As `uname -m` prints it; images and packages say it in other words.
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
