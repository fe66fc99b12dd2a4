// The module of provisioning: providers, pools, and workers on demand.
#pragma once

#include <cstdint>

#include "src/core/provision/coming.h"
#include "src/core/provision/creation.h"
#include "src/core/provision/explanations.h"
#include "src/core/provision/maker_reports.h"
#include "src/core/provision/making.h"
#include "src/core/provision/pools.h"
#include "src/core/provision/providers.h"
#include "src/core/provision/scale_down.h"
#include "src/core/provision/services.h"
#include "src/core/provision/setbacks.h"
#include "src/core/provision/withdrawals.h"

namespace hodei::core {

class Provisioning {
 public:
  Provisioning(const EngineConfig& config, Fleet& fleet, Placement& placement, Jobs& jobs, Audit& audit);

  template <class C>
  requires is_one_of<C, JoinedLists<ProvisionCommands, ProvisionQuestions>> Answer decide(const C& command,
                                                                                          Turn& turn) {
    return decide_by(command, turn, providers, pools, reports_);
  }
  template <class W>
  requires FoldedBy<W, Providers, Pools>
  void fold(const W& write) { fold_into(write, providers, pools); }
  void resume(Turn& turn) { creation_.resume(turn); }
  void due(const Timer& timer, Turn& turn);
  uint64_t digest() const { return providers.digest() + pools.digest(); }

  // At the end of every decision.
  void settle(Turn& turn) { creation_.look(turn); }
  // After a load, what was under way goes on with the first decision.
  bool has_resumed() const { return making_.resumed; }

 private:
  Making making_;
  ProvisionContext context_;

 public:
  Providers providers;
  Pools pools;

 private:
  Coming coming_;
  Setbacks setbacks_;
  Creation creation_;
  Withdrawals withdrawals_;
  MakerReports reports_;
  ScaleDown scale_down_;

 public:
  Explanations explanations;
  FleetMakers for_fleet;
  WorkerSupply for_placement;
  JobSuppliers for_jobs;
};

}  // namespace hodei::core
