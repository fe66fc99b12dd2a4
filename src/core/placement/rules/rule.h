// A placement rule turns a worker away from a shape, or does not. One tiny file per rule; `rules.cc` lists them.
//
// Rules here read only what a worker *is* (WorkerInfo), so workers that are alike are judged once. What a worker has
// free right now is the roster's business.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/core/placement/shape.h"
#include "src/core/worker/worker.h"

namespace hodei::core {

struct Rule {
  std::string_view name;
  // The reason against this worker, or nothing.
  std::optional<std::string> (*rejects)(const Shape&, const WorkerInfo&);
  // What would let a job through that this rule holds up, in words.
  std::string_view unblocked_by;
};

std::span<const Rule> rules();

// The first rule that turns the worker away, with its reason; nothing if all pass.
struct Rejection {
  const Rule* rule;
  std::string reason;
};
std::optional<Rejection> first_rejection(const Shape& shape, const WorkerInfo& worker);

}  // namespace hodei::core
