// Makes room for jobs that would otherwise wait forever: it reserves a worker for a large job and, if preemption is on,
// requeues executions of lower priority.
#pragma once

#include "src/core/fleet/workers.h"
#include "src/core/placement/key_limits.h"
#include "src/core/placement/ports.h"
#include "src/core/placement/reserve.h"
#include "src/core/placement/roster.h"

namespace hodei::core {

class Placer;

class RoomMaker {
 public:
  RoomMaker(const PlacementPorts& ports, const Workers& workers, Roster& roster, const KeyLimits& limits,
            Placer& placer)
      : ports_(ports), workers_(workers), roster_(roster), limits_(limits), placer_(placer) {}

  const Reservations& reservations() const { return reservations_; }
  // The worker gets a job of this lane. True: it was reserved for it.
  bool release_for(LiveWorker& worker, const Lane* lane);
  void check_reservations(const Turn& turn, bool thoroughly);
  void check_if_any(const Turn& turn);
  bool preempt(const Lane& lane, Turn& turn);
  void preempt_if_due(Turn& turn);
  void sweep(Turn& turn);
  // Lanes that wait may preempt others, at the end of the decision.
  void preempt_later();

 private:
  bool may_make_room_for(const Lane& lane, const Turn& turn) const;
  bool one_end_makes_room(const LiveWorker& worker, const Amounts& needs) const;
  bool reserve(const Lane& lane, const Turn& turn);

  const PlacementPorts& ports_;
  const Workers& workers_;
  Roster& roster_;
  const KeyLimits& limits_;
  Placer& placer_;
  Reservations reservations_;
  LaneKey starving_from_;  // where the next scan of waiting lanes begins
  bool preempt_due_ = false;
};

}  // namespace hodei::core
