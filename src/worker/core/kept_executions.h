// The executions that a Keeper holds, with their deadlines. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "src/base/time.h"
#include "src/worker/core/execution.h"

namespace hodei::worker {

// What one start needs to know besides the program itself.
struct StartOrder {
  ExecutionId execution;
  Duration timeout{0};  // from the start of the process; 0: none
  Duration grace{0};    // 0: the default
};

class KeptExecutions {
 public:
  std::vector<Held> inventory() const;
  size_t held_count() const { return held_.size(); }
  size_t alive_count() const { return at_risk_.size(); }  // less those that were told to die at once
  bool holds(ExecutionId execution) const { return held_.contains(execution); }
  bool empty() const { return held_.empty(); }

 protected:
  struct Entry {
    StartOrder order;
    int64_t pid = 0;
    bool spawned = false;
    bool main_gone = false;
    bool ended = false;
    bool sigkilled = false;  // SIGKILL was asked for: nothing worse can follow
    std::optional<KillReason> dying;
    MonoTime deadline = kNever;  // the time-out, or once it is dying the SIGKILL
    Exit exit;
  };

  KeptExecutions() = default;
  ~KeptExecutions() = default;
  Entry& add(const StartOrder& order);
  Entry* find_alive(ExecutionId execution);
  void set_deadline(Entry& entry, MonoTime at);
  // Notes that SIGKILL was asked for. An execution that is not spawned yet gets it when it is.
  void sigkill(Entry& entry);

  std::map<ExecutionId, Entry> held_;
  std::set<std::pair<MonoTime, ExecutionId>> deadlines_;
  std::set<ExecutionId> at_risk_;  // alive and not yet told to die at once: what the end of the lease concerns
};

}  // namespace hodei::worker
