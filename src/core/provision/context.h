// The state and the interfaces that all parts of provisioning share.
#pragma once

#include "src/core/audit/audit.h"
#include "src/core/config.h"
#include "src/core/fleet/fleet.h"
#include "src/core/jobs/jobs.h"
#include "src/core/placement/placement.h"
#include "src/core/provision/making.h"

namespace hodei::core {

class Providers;
class Pools;
class Coming;
class Setbacks;
class Creation;
class Withdrawals;
class MakerReports;

struct ProvisionContext {
  const EngineConfig& config;
  Fleet& fleet;
  Placement& placement;
  Jobs& jobs;
  Audit& audit;
  Making& making;
  Providers& providers;
  Pools& pools;
  Coming& coming;
  Setbacks& setbacks;
  Creation& creation;
  Withdrawals& withdrawals;
  MakerReports& reports;
};

}  // namespace hodei::core
