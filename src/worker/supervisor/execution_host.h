// Carries out what the Keeper decides about executions, and reports the results to it: starts processes, reads their
// pipes into rings, kills process trees, and notices ends. It runs on the supervisor's loop.
#pragma once

#include <sys/resource.h>

#include "src/worker/core/keeper.h"
#include "src/worker/limits/enclosure.h"
#include "src/worker/limits/execution_watch.h"
#include "src/worker/limits/own_limits.h"
#include "src/worker/limits/resource_group.h"
#include "src/worker/supervisor/dying_trees.h"
#include "src/worker/supervisor/execution_input.h"
#include "src/worker/supervisor/execution_ledger.h"
#include "src/worker/supervisor/execution_measures.h"
#include "src/worker/supervisor/execution_rings.h"
#include "src/worker/supervisor/output_pipes.h"
#include "src/worker/supervisor/place_pool.h"
#include "src/worker/supervisor/running_table.h"
#include "src/worker/supervisor/spawn_pool.h"

namespace hodei::worker {

class ExecutionHost {
 public:
  struct Parts {
    Keeper& keeper;
    Enclosures& enclosures;
    ResourceGroups* groups = nullptr;  // null: no limits but those of the enclosures
    ExecutionWatch& watch;
    SpawnPool& spawns;
    ExecutionRings& rings;
    WorkFolders& folders;
    ExecutionLedger* ledger = nullptr;  // null: none can be kept here
    int64_t most_output = 0;            // of one execution that is kept; 0: no limit but its own
    ProgramLimits own = {};             // of the worker as a whole, where it runs one job at a time
    OwnLimits cgroup = {};              // that the worker lives in, where it has one to itself
    int epoll = -1;
  };
  explicit ExecutionHost(Parts parts);

  static constexpr uint64_t kPipeKeys = 1ull << 32;  // keys of pipes are above

  // The actions that the Keeper decides on.
  void spawn(ExecutionId execution, Program program, Now now);
  void signal(ExecutionId execution, bool kill);

  // Events of the operating system. `key` is what epoll was given for the pipe.
  void take_spawned(Now now);
  void reaped(pid_t pid, const EarlyExits::Exited& exited, Now now);
  void ready(uint64_t key, Now now);  // one of its pipes
  void room_was_made(Now now);        // in some ring
  void give_up_output(Now now);       // of ended trees, if it waits for room in a ring that nobody reads
  void over_quota(const ExecutionWatch::OverQuota& over);
  void check_dying(Now now);  // trees that were killed but not yet gone
  MonoTime next_check() const { return std::min(dying_.next_check(), pipes_.next_resume()); }

  const RunningTable& running() const { return running_; }
  ExecutionInputs& inputs() { return inputs_; }
  OutputPipes& pipes() { return pipes_; }

 private:
  void fail_to_spawn(Running& running, const Exit& how, Now now);
  void started(Running& running, Spawned& spawned, Now now);
  void main_is_gone(Running& running, const EarlyExits::Exited& exited, Now now);
  void tree_is_gone(Running& running, Now now);
  void finish_if_drained(Running& running, Now now);

  const Parts parts_;
  RunningTable running_;
  PlacePool places_;
  ExecutionMeasures measures_;
  ExecutionInputs inputs_;
  OutputPipes pipes_;
  DyingTrees dying_;
};

}  // namespace hodei::worker
