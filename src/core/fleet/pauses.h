// Pauses workers that start nothing of what they are sent. A paused worker gets no jobs for a while, so that the jobs
// of a long queue are not sent to it one after another.
#pragma once

#include "src/core/fleet/workers.h"

namespace hodei::core {

class Pauses {
 public:
  Pauses(const FleetPorts& ports, Workers& workers) : ports_(ports), workers_(workers) {}

  void note_refusal(LiveWorker& worker, Turn& turn);
  void note_start(LiveWorker& worker);
  void due(const Timer& timer, Turn& turn);

 private:
  void end(LiveWorker& worker);

  const FleetPorts& ports_;
  Workers& workers_;
};

}  // namespace hodei::core
