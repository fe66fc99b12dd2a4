// Workers that are kept free for a lane: its job is large, and small ones would take every bit of room before it adds
// up; or others were put back to make room for it. Volatile: after a restart it is found out anew.
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
  // Kept free at once. Few: what is kept free does no work.
  static constexpr size_t kMaxStarving = 8;
  static constexpr size_t kMaxPreempting = 64;

  const std::vector<Reservation>& all() const { return all_; }
  bool empty() const { return all_.empty(); }
  size_t count(const LaneKey& lane) const;
  size_t preempting(const LaneKey& lane) const;  // of those, where others are put back
  bool full(bool preempting) const;
  const Reservation* of(const WorkerId& worker) const;

  void add(LiveWorker& worker, const Reservation& reservation);
  void release(LiveWorker& worker);
  void forget(const WorkerId& worker);  // it is gone

  // A worker that did not get free in time is not tried again for this lane before all others were.
  void give_up(LiveWorker& worker);
  bool given_up(const LaneKey& lane, const WorkerId& worker) const { return given_up_.contains({lane, worker}); }
  void try_all_again(const LaneKey& lane);

 private:
  std::vector<Reservation> all_;
  std::set<std::pair<LaneKey, WorkerId>> given_up_;
};

// How much of what is needed is missing, from 0 (it fits) to the number of amounts.
double shortfall(const Amounts& needs, const Amounts& free);

}  // namespace hodei::core
