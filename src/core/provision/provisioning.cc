#include "src/core/provision/provisioning.h"

namespace hodei::core {

Provisioning::Provisioning(const EngineConfig& config, Fleet& fleet, Placement& placement, Jobs& jobs, Audit& audit)
    : context_{config, fleet,   placement, jobs,      audit,        making_, providers,
               pools,  coming_, setbacks_, creation_, withdrawals_, reports_},
      providers(context_),
      pools(context_),
      coming_(context_),
      setbacks_(context_),
      creation_(context_),
      withdrawals_(context_),
      reports_(context_),
      scale_down_(context_),
      explanations(context_),
      for_fleet(context_, scale_down_),
      for_placement(context_),
      for_jobs(context_, scale_down_, explanations) {}

void Provisioning::due(const Timer& timer, Turn& turn) {
  if (timer.kind == TimerKind::Sweep) scale_down_.sweep(turn);
}

}  // namespace hodei::core
