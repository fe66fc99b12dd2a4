// The promises of FAULTS.md, checked while they could be broken: by what processes really do, by what is committed, and
// by what clients were told.
#pragma once

#include <map>
#include <set>
#include <string>

#include "src/core/writes.h"
#include "tests/sim/shares.h"
#include "tests/sim/world.h"

namespace hodei::sim {

class Checker {
 public:
  explicit Checker(World& world) : world_(world), shares_(world) {}

  // Processes. `frozen` ones do nothing until they are thawed, and are killed at that instant if their lease is over.
  void started(ExecutionId execution);
  void died(ExecutionId execution);
  void frozen(ExecutionId execution, bool yes);

  // What a supervisor has started it remembers, with how it ended, until the server has recorded it or it dies itself.
  void remembered(const WorkerId& worker, ExecutionId execution) { remembered_[worker].insert(execution); }
  void supervisor_died(const WorkerId& worker) { remembered_.erase(worker); }

  // At most so many workers of the provider at once.
  void set_room(uint32_t room) { room_ = room; }

  // Commits that were applied.
  void committed(const core::Writes& writes);

  // Clients.
  void acknowledged(JobId job) { acknowledged_.insert(job); }
  void cancel_acknowledged(JobId job) { cancelled_.insert(job); }

  // At the end, when everything has healed and time has passed.
  void finish(const std::map<JobId, core::JobState>& done, const std::function<std::string(JobId)>& why);

  // Not a matter of counts: jobs whose submission nobody heard of end too.
  bool all_acknowledged_ended() const;
  size_t finished_count() const { return finished_.size(); }

 private:
  void check_key_limits(const core::JobHead& job);
  void check_outbox(const core::JobHead& job);
  void check_room();

  World& world_;
  Shares shares_;
  std::map<JobId, std::set<ExecutionId>> alive_;
  std::set<ExecutionId> frozen_;
  std::set<ExecutionId> ever_started_;
  std::map<WorkerId, std::set<ExecutionId>> remembered_;
  std::map<JobId, core::JobState> finished_;
  std::map<JobId, core::JobPtr> newest_;
  std::map<std::string, int64_t> key_limits_;
  std::set<JobId> acknowledged_;
  std::set<JobId> cancelled_;
  std::set<WorkerId> made_;
  uint32_t room_ = 0;
};

}  // namespace hodei::sim
