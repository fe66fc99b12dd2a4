// What this machine offers for executions: enclosures, resource limits and folders. It is determined once, when a
// supervisor starts, after everything that an earlier supervisor left has been killed.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "src/worker/core/program.h"
#include "src/worker/limits/enclosure.h"
#include "src/worker/limits/orphans.h"
#include "src/worker/limits/own_limits.h"
#include "src/worker/limits/resource_group.h"
#include "src/worker/protocol/worker_options.h"
#include "src/worker/supervisor/execution_ledger.h"
#include "src/worker/supervisor/state_folder.h"
#include "src/worker/supervisor/work_folder.h"

namespace hodei::worker {

struct Machine {
  std::shared_ptr<Orphans> orphans;
  std::unique_ptr<Enclosures> enclosures;
  std::optional<ExecutionLedger> ledger;   // none: running executions cannot be recorded
  std::unique_ptr<ResourceGroups> groups;  // null: no limits but those of the enclosures
  OwnLimits cgroup;                        // that the worker lives in
  bool is_alone = false;                   // something has shut the worker in: that cgroup is all its own
  ProgramLimits own;                       // of the worker as a whole, where it runs one job at a time
  std::optional<WorkFolders> folders;
};

// Fills the machine. What it offers, and what it cannot do for a job, goes into the options.
absl::Status prepare_machine(WorkerOptions& options, StateFolder& state, Machine& machine);

// How jobs are contained and limited here, for the journal.
std::string describe(const Machine& machine, const WorkerOptions& options);
std::string what_is_not_enforced(const Machine& machine);  // empty: nothing
}  // namespace hodei::worker
