// A job with an image runs only on a worker created from that image; one without runs anywhere.
#pragma once

#include "src/base/text.h"
#include "src/core/placement/rules/rule.h"

namespace hodei::core {

inline std::optional<std::string> rejects_image(const Shape& shape, const WorkerInfo& worker) {
  if (shape.image.empty() || shape.image == worker.image) return std::nullopt;
  if (worker.image.empty()) return cat("was not created from an image, but the job needs ", shape.image);
  return cat("was created from image ", worker.image, ", but the job needs ", shape.image);
}

}  // namespace hodei::core
