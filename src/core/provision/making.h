// What the engine remembers, while it runs, of workers that are being made or are about to go. All of it is volatile: a
// restarted engine finds the workers in their records, and counts every deadline anew.
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

// A worker that is on its way.
struct Attempt {
  MonoTime asked{0};
  MonoTime deadline{0};
  std::string shape;           // encoded, of the job it is for; empty: for a pool
  std::string held_up;         // why it does not start yet, in the provider's words; empty: nothing was said
  MonoTime held_up_since{0};   // counts while held_up is not empty
  MonoTime unwanted_since{0};  // 0: somebody waits for it
};

// A provider that will not, or did not, make a worker of some shape, or made one that did not fit.
struct Refusal {
  MonoTime first{0};  // of those in a row
  MonoTime until{0};
  uint32_t times = 0;     // in a row
  bool is_final = false;  // it cannot make such a one; else others are only asked first
  bool hopeless = false;  // nobody could: the job asks for something that is not there
  std::string reason;
};

struct Making {
  std::set<Ordinal> wanted;   // shapes that waited when they were last looked at, by ordinal
  std::set<Ordinal> content;  // of them, those for which nothing can be done until something changes
  Ordinal next_shape = 0;     // where the next look begins
  bool due = true;            // something changed that may call for a worker
  bool resumed = false;       // after a load: what was under way has been taken up again
  std::map<WorkerId, Attempt> attempts;
  std::map<WorkerId, MonoTime> idle_since;
  std::map<WorkerId, MonoTime> leaving;  // told to go; destroyed when they went, or at that time
  std::set<WorkerId> gone;               // nothing of them is left; what they ran has not been proven dead yet
  std::deque<WorkerId> ended;            // Terminated, the oldest first
  std::map<std::pair<std::string, std::string>, Refusal> refusals;  // by provider and shape

  void look_again() {
    content.clear();
    due = true;
  }
};

// Limits.
inline constexpr size_t kShapesPerLook = 1'000;
inline constexpr size_t kJobsPerLook = 256;  // of a lane: more workers than that are not asked for at once
inline constexpr size_t kMaxRefusals = 10'000;
inline constexpr size_t kMaxHeldUp = 500;  // characters of a provider's words
// A worker on its way that nobody has waited for this long is withdrawn: the next job may come in the meantime.
inline constexpr Duration kWithdrawAfter = 2s;
// A worker that its provider cannot start counts against every limit of workers, but after this long it no longer keeps
// a worker for other jobs from being made: it is withdrawn when its place is needed.
inline constexpr Duration kYieldAfter = 60s;
inline constexpr size_t kMaxEndedWorkers = 1'000;  // made ones that are gone and still listed

}  // namespace hodei::core
