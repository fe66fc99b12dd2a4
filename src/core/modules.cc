#include "src/core/modules.h"

namespace hodei::core {

Modules::Modules(const EngineConfig& config)
    : audit(config),
      secrets(config, audit),
      access(audit),
      fleet(config, audit),
      placement(config, fleet.workers, audit),
      jobs(config, fleet, placement, audit),
      provisioning(config, fleet, placement, jobs, audit),
      overview(fleet, placement, jobs, provisioning) {
  fleet.connect({&placement.worker_room, &jobs.for_fleet, &provisioning.for_fleet});
  placement.connect({&jobs.for_placement, &provisioning.for_placement});
  jobs.connect(provisioning.for_jobs);
}

}  // namespace hodei::core
