// Checks the promises of docs/semantics.md while they could be broken: what processes do, what is committed and what
// clients were told are written down apart from each other, and compared.
#pragma once

#include <map>
#include <set>
#include <string>

#include "src/core/writes.h"
#include "tests/sim/dispatches.h"
#include "tests/sim/leaders.h"
#include "tests/sim/lives.h"
#include "tests/sim/outputs.h"
#include "tests/sim/processes.h"
#include "tests/sim/shares.h"
#include "tests/sim/world.h"

namespace hodei::sim {

class Checker {
 public:
  Checker(World& world, Duration trouble_ends)
      : world_(world),
        processes_(world),
        lives_(world, processes_, trouble_ends),
        dispatches_(world),
        shares_(world),
        outputs_(world, lives_),
        leaders_(world) {}

  // Processes. Workers are named by the machine that they run on: two of them may claim one id.
  void started(ExecutionId execution, const std::string& machine, Duration timeout);
  Processes& processes() { return processes_; }
  // What a supervisor has started it remembers, with how it ended, until the server has recorded it or it dies itself.
  void supervisor_died(const std::string& machine);
  // In good order: it has written down how these ended.
  void supervisor_stopped(const std::string& machine, std::set<ExecutionId> written);

  // At most so many workers of the provider at once.
  void set_room(uint32_t room) { room_ = room; }

  // A commit that was applied, and when the server had decided it.
  void committed(const core::Writes& writes, MonoTime decided);
  // An order that left the server: it must be one that is stored.
  void ordered(ExecutionId execution, const WorkerId& worker, uint32_t attempt);

  // Clients, and workers that ask for something.
  Lives& lives() { return lives_; }
  Outputs& outputs() { return outputs_; }
  Leaders& leaders() { return leaders_; }
  void secret_stored(const std::string& name, int64_t revision);
  void token_used(Hash128 token, const std::string& incarnation);

  // From time to time, and at the end, when everything has healed and time has passed.
  void check_overdue() const { lives_.check_cancels(); }
  void finish(const std::map<JobId, core::JobState>& stored, const std::function<std::string(JobId)>& why);

  // Not a matter of counts: jobs whose submission nobody heard of end too.
  bool all_acknowledged_ended() const { return lives_.all_told_ended(); }
  size_t finished_count() const { return lives_.ended_count(); }

 private:
  void check_key_limits(const core::JobHead& job);
  void check_outbox(const core::JobHead& job);
  void count_made(const core::Write& write);
  void note_key_limit(const core::Write& write);

  World& world_;
  Processes processes_;
  Lives lives_;
  Dispatches dispatches_;
  Shares shares_;
  Outputs outputs_;
  Leaders leaders_;
  std::map<std::string, std::set<ExecutionId>> remembered_;  // by machine
  std::map<std::string, int64_t> key_limits_;
  std::map<std::string, int64_t> secrets_;  // their newest revision
  std::map<Hash128, std::string> tokens_;   // one-time tokens, and who registered with them
  std::set<WorkerId> made_;
  uint64_t next_job_ = 0;
  uint32_t room_ = 0;
};

}  // namespace hodei::sim
