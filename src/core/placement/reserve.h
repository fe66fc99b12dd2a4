// Workers that are reserved for a lane: either its job is large, and small jobs would take every bit of room before
// enough is free; or other jobs were preempted to make room for it. Volatile: after a restart, reservations are made
// again.
#pragma once

#include <set>
#include <vector>

#include "src/core/placement/lane.h"

namespace hodei::core {

struct Reservation {
  LaneKey lane;
  WorkerId worker;
  MonoTime since{0};
  bool preempting = false;
};

class Reservations {
 public:
  // The most reservations at once. Few, because a reserved worker does no work.
  static constexpr size_t kMaxStarving = 8;
  static constexpr size_t kMaxPreempting = 64;

  const std::vector<Reservation>& all() const { return all_; }
  bool empty() const { return all_.empty(); }
  size_t count(const LaneKey& lane) const;
  size_t preempting(const LaneKey& lane) const;  // of those, where other jobs are preempted
  bool full(bool preempting) const;
  const Reservation* of(const WorkerId& worker) const;

  void add(LiveWorker& worker, const Reservation& reservation);
  void release(LiveWorker& worker);
  void forget(const WorkerId& worker);  // it has left

  // A worker that did not become free in time is not tried again for this lane until all others have been tried.
  void give_up(LiveWorker& worker);
  bool given_up(const LaneKey& lane, const WorkerId& worker) const { return given_up_.contains({lane, worker}); }
  void try_all_again(const LaneKey& lane);

 private:
  std::vector<Reservation> all_;
  std::set<std::pair<LaneKey, WorkerId>> given_up_;
};

// How much of the needs is missing, from 0 (it fits) to the number of amounts.
double shortfall(const Amounts& needs, const Amounts& free);

}  // namespace hodei::core
