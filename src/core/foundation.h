// What a module that is built on the others is made with. It takes what it needs.
#pragma once

#include "src/core/config.h"

namespace hodei::core {

class Audit;
class Fleet;
class Jobs;
class Placement;
class Provisioning;

struct Foundation {
  const EngineConfig& config;
  Audit& audit;
  Fleet& fleet;
  Placement& placement;
  Jobs& jobs;
  Provisioning& provisioning;
};

}  // namespace hodei::core
