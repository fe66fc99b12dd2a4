// The running executions of a supervisor, found by id, by process, or by a number that is part of the keys of their
// pipes.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "src/worker/core/execution.h"
#include "src/worker/core/program.h"
#include "src/worker/limits/live_usage.h"
#include "src/worker/output/output_reader.h"
#include "src/worker/supervisor/input_feeder.h"
#include "src/worker/supervisor/spawn_pool.h"

namespace hodei::worker {

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

// Ends of processes whose start has not been reported to the loop yet.
class EarlyExits {
 public:
  struct Exited {
    int code, status;
    rusage usage;
  };

  uint64_t order() { return ++ordered_; }  // the number of a start
  void note(pid_t pid, const Exited& exited);
  // After each start. `number`: of the start of this process.
  std::optional<Exited> take(pid_t pid, uint64_t number);
  void started() { ++done_; }
  void forget_strangers();  // when all starts are known: what is left was no job

 private:
  struct Entry {
    uint64_t ordered;  // it can only belong to one of these
    Exited exited;
  };
  std::map<pid_t, Entry> entries_;
  uint64_t ordered_ = 0;
  uint64_t done_ = 0;
};

class RunningTable {
 public:
  using Map = std::map<ExecutionId, std::unique_ptr<Running>>;

  Running& add(ExecutionId execution);
  void remove(Running& running);  // closes its pipes, which takes them out of epoll
  void has_process(Running& running) { by_pid_[running.pid] = &running; }

  Running* find(ExecutionId execution) const;  // null: it does not run
  Running* at(uint64_t index) const;
  Running* take(pid_t pid);  // its process is gone: it is not found by it again

  bool empty() const { return running_.empty(); }
  size_t size() const { return running_.size(); }
  Map::const_iterator begin() const { return running_.begin(); }
  Map::const_iterator end() const { return running_.end(); }
  bool has_living_trees() const;
  EarlyExits& early_exits() { return early_exits_; }
  std::vector<RunningTree> trees() const;  // whose main process lives

 private:
  Map running_;
  std::map<pid_t, Running*> by_pid_;
  std::vector<Running*> by_index_;
  std::vector<uint32_t> free_indexes_;
  EarlyExits early_exits_;
};

}  // namespace hodei::worker
