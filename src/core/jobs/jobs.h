// The module of jobs: submission, dispatch, reports, retries, cancels, templates, and the end of a job.
#pragma once

#include <cstdint>

#include "src/core/jobs/dispatches.h"
#include "src/core/jobs/endings.h"
#include "src/core/jobs/forgetting.h"
#include "src/core/jobs/known_keys.h"
#include "src/core/jobs/moves.h"
#include "src/core/jobs/ports.h"
#include "src/core/jobs/reports.h"
#include "src/core/jobs/requeues.h"
#include "src/core/jobs/services.h"
#include "src/core/jobs/submissions.h"
#include "src/core/jobs/table.h"
#include "src/core/jobs/templates.h"

namespace hodei::core {

class Jobs {
 public:
  Jobs(const EngineConfig& config, Fleet& fleet, Placement& placement, Audit& audit);
  void connect(Suppliers& suppliers) { ports_.suppliers = &suppliers; }
  // From now on, ends of this module's jobs reach it.
  void add_owner(OwnerModule module, JobOwner& owner) { ports_.owners[module] = &owner; }

  template <class C>
  requires is_one_of<C, JobCommands> Answer decide(const C& command, Turn& turn) {
    return decide_by(command, turn, submissions, endings, dispatches, reports, templates, forgetting);
  }
  template <class W>
  requires FoldedBy<W, JobTable, KnownKeys, Templates>
  void fold(const W& write) { fold_into(write, table, keys, templates); }
  void resume(Turn& turn);
  void due(const Timer& timer, Turn& turn);
  uint64_t digest() const { return table.digest() + keys.digest() + templates.digest(); }

 private:
  JobPorts ports_;

 public:
  JobTable table;
  KnownKeys keys;
  Moves moves;
  Submissions submissions;
  Endings endings;
  Dispatches dispatches;
  Requeues requeues;
  Reports reports;
  Templates templates;
  Forgetting forgetting;
  WorkersExecutions for_fleet;
  WaitingJobs for_placement;
};

}  // namespace hodei::core
