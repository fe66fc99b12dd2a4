// A placement rule decides whether a worker is rejected for a shape. Each rule has a small file; `rules.cc` lists them.
//
// These rules read only what a worker *is* (WorkerInfo), so workers that are alike are judged once. The roster knows
// what a worker has free now.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/core/fleet/worker.h"
#include "src/core/placement/shape.h"

namespace hodei::core {

struct Rule {
  std::string_view name;
  // Why this worker is rejected, or nothing.
  std::optional<std::string> (*rejects)(const Shape&, const WorkerInfo&);
  // What would let a job pass that this rule blocks, as text.
  std::string_view unblocked_by;
};

std::span<const Rule> rules();

// The first rule that rejects the worker, and why; nothing if all pass.
struct Rejection {
  const Rule* rule;
  std::string reason;
};
std::optional<Rejection> first_rejection(const Shape& shape, const WorkerInfo& worker);

}  // namespace hodei::core
