// Which executions of lower classes have to go so that a job of a higher one fits on a worker.
#pragma once

#include <optional>
#include <vector>

#include "src/core/job/job.h"
#include "src/core/worker/live.h"

namespace hodei::core {

// An execution on the worker that is looked at.
struct Occupant {
  const JobHead* job = nullptr;
  bool ends = false;  // already on its way out: its room counts as free
};

// A job that was sent to workers more often than this is left alone.
inline constexpr uint32_t kMaxExecutionsToPreempt = 50;

// The fewest, of the lowest class, the newest first; none of them is needless. Empty: it fits once those are gone that
// already go. Nothing: there is no way.
std::optional<std::vector<const JobHead*>> victims(const Amounts& needs, Priority priority, const LiveWorker& worker,
                                                   const std::vector<Occupant>& occupants);

// Whether to rather put back these than those.
bool is_milder(const std::vector<const JobHead*>& a, const std::vector<const JobHead*>& b);

}  // namespace hodei::core
