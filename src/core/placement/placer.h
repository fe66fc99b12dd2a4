// Places waiting jobs on workers with free room.
#pragma once

#include <vector>

#include "src/core/fleet/workers.h"
#include "src/core/placement/key_limits.h"
#include "src/core/placement/ports.h"
#include "src/core/placement/room_maker.h"
#include "src/core/placement/roster.h"

namespace hodei::core {

class Placer {
 public:
  Placer(const PlacementPorts& ports, const Workers& workers, Roster& roster, KeyLimits& limits, RoomMaker& room_maker)
      : ports_(ports), workers_(workers), roster_(roster), limits_(limits), room_maker_(room_maker) {}

  void place_job(JobId job, Turn& turn);    // a job that has just begun to wait
  void place_lane(Lane* lane, Turn& turn);  // the first jobs of a lane, which may be deleted by this
  void place_woken(std::vector<JobId> jobs, Turn& turn);
  void fill(LiveWorker& worker, Turn& turn);  // gives waiting jobs to a worker that has room
  void fill_all(Turn& turn);
  void fill_later(const WorkerId& worker) { touched_.push_back(worker); }
  // A job that this worker was made for goes first, if it still waits.
  void place_on(JobId job, LiveWorker& worker, Turn& turn);
  void assign(JobId job, LiveWorker& worker, Decision decision, Turn& turn);
  void settle(Turn& turn);  // uses the room that a decision may have freed

 private:
  const PlacementPorts& ports_;
  const Workers& workers_;
  Roster& roster_;
  KeyLimits& limits_;
  RoomMaker& room_maker_;
  std::vector<WorkerId> touched_;  // changed by this decision: a waiting job may fit there now
};

}  // namespace hodei::core
