// Handles workers that leave (drained, stopped or unregistered) and requeues their executions.
#pragma once

#include <string>

#include "src/core/audit/audit.h"
#include "src/core/fleet/directory.h"
#include "src/core/fleet/tokens.h"
#include "src/core/fleet/workers.h"
#include "src/core/routing.h"

namespace hodei::core {

class Departures {
 public:
  Departures(const FleetPorts& ports, Workers& workers, Tokens& tokens, Audit& audit)
      : ports_(ports), workers_(workers), tokens_(tokens), audit_(audit) {}

  Answer decide(const DrainWorker& c, Turn& turn);
  Answer decide(const UndrainWorker& c, Turn& turn);
  Answer decide(const UnregisterWorker& c, Turn& turn);
  Answer decide(const WorkerStops& c, Turn& turn);

  void leave_if_drained(LiveWorker& worker, Turn& turn);

 private:
  void give_back_all(LiveWorker& worker, const std::string& reason, Turn& turn);
  void interrupt_all(const LiveWorker& worker, const std::string& why, Turn& turn);

  const FleetPorts& ports_;
  Workers& workers_;
  Tokens& tokens_;
  Audit& audit_;
};

}  // namespace hodei::core
