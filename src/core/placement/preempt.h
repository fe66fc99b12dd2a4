// Which executions of lower priority must end so that a job of higher priority fits on a worker.
#pragma once

#include <optional>
#include <vector>

#include "src/core/fleet/live.h"
#include "src/core/jobs/job.h"

namespace hodei::core {

// An execution on the worker in question.
struct Occupant {
  const JobHead* job = nullptr;
  bool ends = false;  // already ending: its room counts as free
};

// A job that has had more executions than this is not preempted.
inline constexpr uint32_t kMaxExecutionsToPreempt = 50;

// The fewest executions of the lowest priority, newest first, each of them necessary. Empty: it fits once the
// executions that are already ending are gone. Nothing: it cannot be made to fit.
std::optional<std::vector<const JobHead*>> victims(const Amounts& needs, Priority priority, const LiveWorker& worker,
                                                   const std::vector<Occupant>& occupants);

// Whether preempting `a` does less harm than preempting `b`.
bool is_milder(const std::vector<const JobHead*>& a, const std::vector<const JobHead*>& b);

}  // namespace hodei::core
