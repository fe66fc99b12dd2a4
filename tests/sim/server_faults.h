// What goes wrong with servers in the simulation, and who else has to do with them.
#pragma once

#include <cstdint>

#include "src/core/effects.h"

namespace hodei::sim {

struct ServerFaults {
  double commit_fails = 0;      // chance per commit of each kind of failure
  double crash_in_commit = 0;   // before or after it was applied
  double slow_commit = 0;       // chance of one that takes up to seconds
  double stuck_commit = 0;      // of one that takes longer than leases last
  double append_fails = 0;      // of output, applied or not
  double slow_read = 0.02;      // of a read beside the loop
  double call_lost = 0.01;      // chance per call, on its way or on the way back
  double call_repeated = 0.01;  // by something on the way that tries again by itself
  uint64_t digest_every = 100;  // commits
};

// Who makes workers, as a server sees it. `life` names the reign that asks: what it is told later is for that one.
class MakerEnd {
 public:
  virtual ~MakerEnd() = default;
  virtual void create(const core::CreateWorker& wish, uint64_t life) = 0;
  virtual void destroy(const core::DestroyWorker& wish, uint64_t life) = 0;
  virtual void server_started(uint64_t life) = 0;
};

// Who follows jobs at a server: with the reign, all its streams end.
class ReignWatcher {
 public:
  virtual ~ReignWatcher() = default;
  virtual void reign_ended(uint64_t life) = 0;
};

}  // namespace hodei::sim
