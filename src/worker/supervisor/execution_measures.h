// The limits of executions, and the usage that is measured at their end.
#pragma once

#include <sys/resource.h>

#include "src/worker/limits/enclosure.h"
#include "src/worker/limits/execution_watch.h"
#include "src/worker/limits/own_limits.h"
#include "src/worker/limits/resource_group.h"
#include "src/worker/supervisor/running_table.h"

namespace hodei::worker {

class ExecutionMeasures {
 public:
  struct Parts {
    Enclosures& enclosures;
    ResourceGroups* groups = nullptr;  // null: no limits but those of the enclosures
    ExecutionWatch& watch;
    ProgramLimits own = {};  // of the worker as a whole, where it runs one job at a time
    OwnLimits cgroup = {};   // that the worker lives in, where it has one to itself
  };
  explicit ExecutionMeasures(Parts parts) : parts_(std::move(parts)) {}

  void begin(Running& running, SpawnOrder& order);  // before it is started
  void started(const Running& running);
  void main_ended(Running& running, const rusage& usage);
  // The tree is gone: what its group counted is what it used. `alone`: nothing else runs.
  void end(Running& running, bool alone);
  void give_up(const Running& running);  // it could not be started
  // False: it is too late for this one.
  bool over_quota(Running& running, const ExecutionWatch::OverQuota& over);

 private:
  void note_own_oom(Running& running, bool alone);
  int64_t own_memory_kb(const rusage& usage);

  Parts parts_;
  int64_t supervisor_peak_kb_ = 0;  // as it was last read
};

}  // namespace hodei::worker
