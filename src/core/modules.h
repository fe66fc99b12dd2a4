// The modules of the engine, in the order in which they depend on each other.
#pragma once

#include "src/core/access/access.h"
#include "src/core/audit/audit.h"
#include "src/core/config.h"
#include "src/core/fleet/fleet.h"
#include "src/core/jobs/jobs.h"
#include "src/core/overview/overview.h"
#include "src/core/placement/placement.h"
#include "src/core/provision/provisioning.h"
#include "src/core/secrets/secrets.h"

namespace hodei::core {

struct Modules {
  explicit Modules(const EngineConfig& config);

  // Calls `f(module...)` with all of them. Those that share a timer handle it in this order.
  template <class F>
  decltype(auto) with_all(F&& f) {
    return f(fleet, placement, jobs, secrets, access, audit, provisioning, overview);
  }
  template <class F>
  decltype(auto) with_all(F&& f) const {
    return f(fleet, placement, jobs, secrets, access, audit, provisioning, overview);
  }

  Audit audit;
  Secrets secrets;
  Access access;
  Fleet fleet;
  Placement placement;
  Jobs jobs;
  Provisioning provisioning;
  Overview overview;
};

}  // namespace hodei::core
