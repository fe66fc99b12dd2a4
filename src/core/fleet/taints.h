// Sets taints on workers, and evicts the executions of jobs that do not tolerate them.
#pragma once

#include "src/core/audit/audit.h"
#include "src/core/fleet/workers.h"
#include "src/core/routing.h"

namespace hodei::core {

class Taints {
 public:
  Taints(const FleetPorts& ports, Workers& workers, Audit& audit) : ports_(ports), workers_(workers), audit_(audit) {}

  Answer decide(const TaintWorker& c, Turn& turn);

 private:
  const FleetPorts& ports_;
  Workers& workers_;
  Audit& audit_;
};

// Has executions ended that do not tolerate the worker's taints.
void evict(const LiveWorker& worker, Executions& executions, Turn& turn);

}  // namespace hodei::core
