// The life of every job by our own account: what clients were told, what its processes really did, how many attempts
// that makes, when the next one may start. Every commit is compared with it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "src/core/writes.h"
#include "tests/sim/processes.h"
#include "tests/sim/world.h"

namespace hodei::sim {

class Lives {
 public:
  Lives(World& world, const Processes& processes, Duration trouble_ends)
      : world_(world), processes_(processes), trouble_ends_(trouble_ends) {}

  // What clients did and were told. A key is theirs: one job each, whatever is lost or repeated on the way.
  void told_job(const std::string& key, JobId job);
  void cancel_sent(JobId job) { lives_[job].cancel_sent = true; }
  void cancel_taken(JobId job, core::JobState state);
  void cancel_refused(JobId job, const absl::Status& why);

  // A person stops a worker: what it interrupts is no attempt.
  void told_to_stop(const WorkerId& worker) { told_to_stop_.insert(worker); }
  // A process was ended because of that; its supervisor knows, until it dies without a word.
  void interrupted(ExecutionId execution, const std::string& machine) {
    interrupted_[execution] = machine;
    ever_interrupted_.insert(execution);
  }
  void supervisor_died(const std::string& machine);
  // A server that runs was told of a stop, or that the worker is there again; it may forget what it has not stored only
  // when it dies.
  void stop_heard(const WorkerId& worker) { stops_heard_.emplace(worker, world_.now().mono); }
  void start_heard(const WorkerId& worker) { stops_heard_.erase(worker); }
  void server_died() { stops_heard_.clear(); }

  // Writes that were committed, in their order; `decided` is when the server made up its mind.
  void entered(const core::SpecRow& spec);
  void worker_put(const core::WorkerRecord& worker);
  void moved(const core::JobPtr& job, bool is_end, MonoTime decided);

  // A cancel that was acknowledged must be carried out in the end.
  void check_cancels() const;

  core::JobPtr head(JobId job) const;
  bool has_ended(JobId job) const { return ended_at(job).has_value(); }
  std::optional<Duration> ended_at(JobId job) const;
  bool all_told_ended() const;
  size_t ended_count() const { return ended_; }
  // Some execution that is with another worker, if there is one.
  std::optional<ExecutionId> active_elsewhere(const WorkerId& worker, uint64_t random) const;
  // Told to a client, and without an end.
  std::optional<JobId> unended() const;

 private:
  struct BackOff {
    MonoTime until{0};
    uint64_t wall_jumps = 0;
  };
  struct Life {
    core::JobPtr head;
    bool told = false;
    bool ended = false;
    Duration ended_at{0};
    bool cancel_sent = false;
    std::optional<Duration> cancel_taken;
    // Attempts by our own count: executions that started, without those that were not let finish.
    uint32_t attempts = 0;
    bool put_back = false;  // the end of the current execution was wanted, not that of the job
    std::optional<BackOff> back_off;
    uint32_t unstarted = 0;      // dispatches in a row that never started
    uint32_t interruptions = 0;  // in a row
  };

  void dispatched(Life& life, const core::JobHead& before, const core::JobHead& job, MonoTime decided);
  void execution_ended(Life& life, const core::JobHead& job, MonoTime decided);
  void compare_end(const core::JobHead& job, const core::Execution& last);
  void job_ended(Life& life, const core::JobHead& job);
  void check_attempts(const Life& life, const core::JobHead& job);
  void check_interruption(const core::JobHead& job, const core::Execution& last, MonoTime decided);
  void take_back_attempt(Life& life, const core::JobHead& before, const core::JobHead& job);
  Duration cancel_deadline(const Life& life) const;

  World& world_;
  const Processes& processes_;
  const Duration trouble_ends_;
  std::map<std::string, JobId> keys_;
  std::map<JobId, Life> lives_;
  std::set<WorkerId> told_to_stop_;
  std::set<WorkerId> stopped_;                      // on record
  std::map<ExecutionId, std::string> interrupted_;  // whose supervisor, or its last words, can tell
  std::set<ExecutionId> ever_interrupted_;
  std::map<WorkerId, MonoTime> stops_heard_;
  size_t ended_ = 0;
};

}  // namespace hodei::sim
