// Carries out what the Keeper decides about executions, and tells it what became of them: processes are started, their
// pipes read into rings, their trees killed, their ends noticed. Lives on the supervisor's loop.
#pragma once

#include <sys/resource.h>

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "src/worker/core/keeper.h"
#include "src/worker/enclosure.h"
#include "src/worker/execution_ledger.h"
#include "src/worker/execution_watch.h"
#include "src/worker/input_feeder.h"
#include "src/worker/last_output.h"
#include "src/worker/output_reader.h"
#include "src/worker/own_limits.h"
#include "src/worker/protocol.h"
#include "src/worker/resource_group.h"
#include "src/worker/ring_pool.h"
#include "src/worker/spawn_pool.h"

namespace hodei::worker {

class ExecutionHost {
 public:
  struct Parts {
    Keeper& keeper;
    Enclosures& enclosures;
    ResourceGroups* groups = nullptr;  // null: no limits but those of the enclosures
    ExecutionWatch& watch;
    SpawnPool& spawns;
    RingPool& rings;
    WorkFolders& folders;
    ExecutionLedger* ledger = nullptr;  // null: none can be kept here
    int64_t most_output = 0;            // of one execution that is kept; 0: no limit but its own
    ProgramLimits own = {};             // of the worker as a whole, where it runs one job at a time
    OwnLimits cgroup = {};              // that the worker lives in, where it has one to itself
    int epoll = -1;
  };
  explicit ExecutionHost(Parts parts) : parts_(std::move(parts)) {}

  // What will be run when the Keeper says Spawn; dropped if it does not.
  void offer(ExecutionId execution, Program program);
  void withdraw_offer() { offered_.reset(); }

  // What an execution of an earlier start printed, and no server has yet.
  void adopt_output(ExecutionId execution, const std::vector<OutputRecord>& records);
  RingMemory* output_of(ExecutionId execution);  // null: it has none

  // The Keeper's wishes.
  void spawn(ExecutionId execution, Now now);
  void signal(ExecutionId execution, bool kill);
  void release(ExecutionId execution);

  // Events of the operating system. `key` is what epoll was given for the pipe.
  void take_spawned(Now now);
  void reaped(pid_t pid, int code, int status, const rusage& usage, Now now);
  void ready(uint64_t key, Now now);  // one of its pipes
  void room_was_made(Now now);        // in some ring
  void resume_reading(Now now);       // of pipes that waited for the rate of their job
  void give_up_output(Now now);       // of ended trees, which waits for room that nobody will make
  void check_dying(Now now);          // trees that were killed but not yet gone
  void over_quota(const ExecutionWatch::OverQuota& over);
  std::vector<RunningTree> running_trees() const;  // whose main process lives

  // Standard input. (execution_input.cc)
  void take_input(const protocol::Input& piece);
  std::vector<protocol::InputTaken> input_news();
  const InputFeeder* input_of(ExecutionId execution) const;  // null: it takes none, or has ended

  MonoTime next_check() const { return std::min(next_check_, next_resume_); }
  uint64_t ring_of(ExecutionId execution) const;
  bool empty() const { return running_.empty(); }
  size_t count() const { return running_.size(); }
  bool has_living_trees() const;
  bool take_output_flag() { return std::exchange(output_written_, false); }
  uint64_t dropped_lines() const;  // of all executions so far

  static constexpr uint64_t kPipeKeys = 1ull << 32;  // keys of pipes are above

 private:
  struct Running {
    ExecutionId execution;
    uint64_t spawn_number = 0;
    uint32_t index = 0;
    pid_t pid = 0;
    std::unique_ptr<Place> place;
    uint64_t ring = 0;
    std::unique_ptr<OutputReader> output;
    std::unique_ptr<InputFeeder> input;  // null: it is not streamed
    bool main_gone = false;
    bool tree_gone = false;
    int checks = 0;
    ProgramLimits limits;
    int64_t oom_kills_before = 0;  // in the worker's own cgroup
    Exit usage;                    // with a failure: what the end will be called, whatever its status
  };
  struct EarlyExit {
    uint64_t spawns_ordered;  // it can only belong to one of these
    int code, status;
    rusage usage;
  };

  absl::StatusOr<std::unique_ptr<Place>> take_place(bool with_group);
  absl::StatusOr<std::unique_ptr<Place>> free_or_new_place(bool with_group);
  void note_limits(Running& running, SpawnOrder& order);
  void take_measure(Running& running);
  void note_own_oom(Running& running);
  static void note_half_read(Running& running);
  void give_back(std::unique_ptr<Place> place);
  Running* find(ExecutionId execution);
  void fail_to_spawn(Running& running, const Exit& how, Now now);
  int64_t own_memory_kb(const rusage& usage);
  void main_is_gone(Running& running, int code, int status, const rusage& usage, Now now);
  void look_after_dying(Running& running, Now now);
  void finish_if_drained(Running& running, Now now);
  void note_read(const Running& running, bool news);
  void forget(Running& running);
  void keep_free(std::unique_ptr<Place> place);

  Parts parts_;
  std::optional<std::pair<ExecutionId, Program>> offered_;
  std::map<ExecutionId, std::unique_ptr<Running>> running_;
  std::map<pid_t, Running*> by_pid_;
  std::vector<Running*> by_index_;
  std::vector<uint32_t> free_indexes_;
  std::map<ExecutionId, uint64_t> ring_of_;             // until released
  std::vector<std::unique_ptr<Place>> places_;          // free ones
  std::vector<std::unique_ptr<Place>> limited_places_;  // free ones with a resource group
  std::map<pid_t, EarlyExit> early_exits_;              // of processes that the loop has not heard of yet
  std::set<ExecutionId> dying_;                         // main process gone, tree not yet
  int64_t supervisor_peak_kb_ = 0;                      // as it was last read
  uint64_t spawns_ordered_ = 0;
  uint64_t spawns_done_ = 0;
  MonoTime next_check_ = kNever;
  MonoTime next_resume_ = kNever;
  uint64_t dropped_before_ = 0;  // lines, of executions that have ended
  bool output_written_ = false;
  std::set<ExecutionId> with_input_;  // of those that run
};

}  // namespace hodei::worker
