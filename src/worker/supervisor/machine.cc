#include "src/worker/supervisor/machine.h"

#include <unistd.h>

#include <algorithm>

#include "src/base/counted.h"
#include "src/base/folder_tree.h"
#include "src/base/status.h"
#include "src/worker/limits/sandbox.h"
#include "src/worker/supervisor/secret_files.h"
#include "src/worker/system/journal.h"

namespace hodei::worker {
namespace {

constexpr size_t kMoreRecords = 64;  // beyond two for each slot: trees that are killed but not gone hold theirs
constexpr ProgramLimits kEveryLimit{.cpu_milli = 1, .memory_bytes = 1, .pids = 1, .io_weight = 1, .disk_bytes = 1};

absl::Status end_leftovers(const WorkerOptions& options, StateFolder& state, Machine& machine) {
  const Leftovers left = ExecutionLedger::read(state.executions(), state.mark());
  ASSIGN_OR_RETURN(int killed, machine.enclosures->kill_leftovers());
  const LeftoversKilled recorded = kill_recorded(left);
  killed += recorded.processes + kill_marked(state.mark());
  if (killed > 0) say("killed ", hodei::counted(killed, "process"), " left by an earlier supervisor");
  // Without cgroups a process gets away that has left its parents, its session, its environment and its output.
  const bool all_found =
      left.is_complete && !recorded.unclear && (left.executions.empty() || machine.enclosures->holds_all());
  if (!all_found && state.generation() > 1) {
    say("some processes of an earlier supervisor may not be found here: the server waits until its lease has ended");
    RETURN_IF_ERROR(state.begin_lineage());
  }
  // Only now: a supervisor that starts after a kill before this line finds what we found.
  auto ledger = ExecutionLedger::make(state.executions(), state.mark(), 2 * slots_of(options) + kMoreRecords);
  if (ledger.ok()) {
    machine.ledger.emplace(std::move(*ledger));
    return absl::OkStatus();
  }
  say("running executions cannot be recorded: ", std::string(ledger.status().message()));
  unlink(state.executions().c_str());
  return absl::OkStatus();
}

// In a container or a virtual machine the worker's own limits are its capacity, and hold for a job that runs alone in
// it. What remains that it cannot do for a job, the server must know.
void learn_own_limits(WorkerOptions& options, Machine& machine) {
  machine.cgroup = read_own_limits(options.cgroup_root);
  machine.is_alone = options.isolation != "process";
  const auto lower = [](int64_t& offered, int64_t limit) {
    if (limit > 0) offered = offered == 0 ? limit : std::min(offered, limit);
  };
  lower(options.cpu_milli, machine.cgroup.cpu_milli);
  lower(options.memory_mb, machine.cgroup.memory_bytes >> 20);
  // The limits of the surrounding cgroup are what the worker was told to offer.
  if (machine.is_alone && slots_of(options) == 1) {
    machine.own = {.cpu_milli = options.cpu_milli, .memory_bytes = options.memory_mb << 20};
  }
  const auto lacks = [&options](const char* what, bool lacking) {
    if (lacking) options.lacks.emplace_back(what);
  };
  const bool limits_cpu = machine.groups != nullptr && machine.groups->limits_cpu();
  const bool limits_memory = machine.groups != nullptr && machine.groups->limits_memory();
  lacks("cpu_limit", !limits_cpu);
  lacks("memory_limit", !limits_memory);
  lacks("own_cpu_limit", !limits_cpu && machine.own.cpu_milli == 0);
  lacks("own_memory_limit", !limits_memory && machine.own.memory_bytes == 0);
  // On a machine without such a cgroup, a job that asks for too much fails when it starts.
  lacks("sandbox", machine.is_alone && !can_sandbox());
  lacks("secret_files", machine.is_alone && !can_keep_secret_files());
}

}  // namespace

absl::Status prepare_machine(WorkerOptions& options, StateFolder& state, Machine& machine) {
  machine.orphans = std::make_shared<Orphans>();
  // Before anything else: no second copy of a job may ever run beside one that an earlier supervisor left behind.
  const EnclosureOptions how{.cgroups = options.cgroups,
                             .only_v1 = options.only_cgroups_v1,
                             .cgroup_root = options.cgroup_root,
                             .mark = state.mark(),
                             .most_processes = options.job_processes,
                             .orphans = machine.orphans};
  machine.enclosures = choose_enclosures(how);
  RETURN_IF_ERROR(end_leftovers(options, state, machine));
  machine.groups = choose_resource_groups(how, *machine.enclosures);
  learn_own_limits(options, machine);
  ASSIGN_OR_RETURN(WorkFolders folders, WorkFolders::make(state.work()));
  machine.folders.emplace(std::move(folders));
  drop_all_secret_files(stage_folder(options.state_dir));
  if (absl::Status removed = remove_tree(stage_folder(options.state_dir)); !removed.ok()) {
    say("some artifacts of earlier jobs could not be removed: ", std::string(removed.message()));
  }
  return absl::OkStatus();
}

std::string describe(const Machine& machine, const WorkerOptions& options) {
  return cat("jobs are contained by ", machine.enclosures->describe(), ", ",
             machine.enclosures->limits_processes() && options.job_processes > 0
                 ? cat("each with at most ", options.job_processes, " processes")
                 : std::string("with no limit on their processes"),
             "; ",
             machine.groups ? cat("limits are enforced by ", machine.groups->describe())
                            : std::string("no cgroup enforces other limits"));
}

std::string what_is_not_enforced(const Machine& machine) {
  ProgramLimits every = kEveryLimit;
  if (machine.own.cpu_milli > 0) every.cpu_milli = machine.own.cpu_milli;
  if (machine.own.memory_bytes > 0) every.memory_bytes = machine.own.memory_bytes;
  return not_enforced(every, *machine.enclosures, machine.groups.get(), machine.own);
}

}  // namespace hodei::worker
