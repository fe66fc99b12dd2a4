// Workers that start nothing of what they are sent: they are left alone for a while, so that a queue of jobs is not
// thrown at them again and again.
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
