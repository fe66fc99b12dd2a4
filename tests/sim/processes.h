// What processes really did, whatever anybody says of them: when each ran, how it ended, and that no two copies of one
// job ran at once (I3, I4).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "src/base/ids.h"
#include "tests/sim/world.h"

namespace hodei::sim {

struct RealEnd {
  int exit_code = 0;
  int signal = 0;
  MonoTime at{0};
};

struct RealRun {
  std::string worker;
  MonoTime started{0};
  bool failed_to_start = false;
  bool disturbed = false;  // frozen, or its supervisor died: nobody watched its time-out all the time
  Duration timeout{0};
  std::optional<RealEnd> end;  // nothing: it is alive

  bool alive() const { return !failed_to_start && !end; }
};

class Processes {
 public:
  explicit Processes(World& world) : world_(world) {}

  void started(ExecutionId execution, const std::string& worker, Duration timeout);
  void failed_to_start(ExecutionId execution, const std::string& worker);
  void ended(ExecutionId execution, int exit_code, int signal);
  // A frozen one does nothing until it is thawed; what outlived its lease is killed at that instant.
  void frozen(ExecutionId execution, bool yes);
  void supervisor_died(const std::string& worker);

  const RealRun* run(ExecutionId execution) const;
  // Copies of a job that run and are not frozen.
  std::set<ExecutionId> running(JobId job) const;
  const std::map<ExecutionId, RealRun>& all() const { return runs_; }

 private:
  void check_alone(ExecutionId execution);

  World& world_;
  std::map<ExecutionId, RealRun> runs_;
  std::map<JobId, std::set<ExecutionId>> alive_;
  std::set<ExecutionId> frozen_;
};

}  // namespace hodei::sim
