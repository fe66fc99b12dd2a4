// What the engine remembers about workers that are being created or are about to leave. All of it is volatile: a
// restarted engine finds the workers in their records and starts every deadline again.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "src/base/ids.h"
#include "src/base/time.h"
#include "src/core/placement/lane_key.h"

namespace hodei::core {

// A worker that is being created.
struct Attempt {
  MonoTime asked{0};
  MonoTime deadline{0};
  std::string shape;           // encoded, of the job it is for; empty: for a pool
  std::string held_up;         // why it has not started yet, as the provider says; may be empty
  MonoTime held_up_since{0};   // counts while held_up is not empty
  MonoTime unwanted_since{0};  // 0: a job waits for it
};

// A provider cannot create a worker of some shape, failed to, or created one that did not fit.
struct Refusal {
  MonoTime first{0};  // first of those in a row
  MonoTime until{0};
  uint32_t times = 0;     // in a row
  bool is_final = false;  // it cannot create such a worker; otherwise other providers are only tried first
  bool hopeless = false;  // no provider can: something the job needs does not exist
  std::string reason;
};

struct Making {
  std::set<Ordinal> wanted;   // shapes that jobs waited with at the last check, by ordinal
  std::set<Ordinal> content;  // of those, the ones for which nothing can be done until something changes
  Ordinal next_shape = 0;     // where the next check begins
  bool due = true;            // something has changed that may require a worker
  bool resumed = false;       // after a load: what was under way has been resumed
  std::map<WorkerId, Attempt> attempts;
  std::map<WorkerId, MonoTime> idle_since;
  std::map<WorkerId, MonoTime> leaving;  // told to leave; destroyed once they have left, or at this time
  std::set<WorkerId> gone;               // destroyed, but not all their executions are proven to have ended
  std::deque<WorkerId> ended;            // Terminated, oldest first
  std::map<std::pair<std::string, std::string>, Refusal> refusals;  // by provider and shape

  void look_again() {
    content.clear();
    due = true;
  }
};

// Limits.
inline constexpr size_t kShapesPerLook = 1'000;
inline constexpr size_t kMaxRefusals = 10'000;
inline constexpr size_t kMaxHeldUp = 500;  // characters of a provider's message
// A worker being created is withdrawn when no job has waited for it for this long; until then, another job may come.
inline constexpr Duration kWithdrawAfter = 2s;
// A worker that its provider cannot start counts against every limit of workers, but after this long it no longer
// prevents the creation of workers for other jobs: it is withdrawn when its place is needed.
inline constexpr Duration kYieldAfter = 60s;
inline constexpr size_t kMaxEndedWorkers = 1'000;  // created workers that have left and are still listed

}  // namespace hodei::core
