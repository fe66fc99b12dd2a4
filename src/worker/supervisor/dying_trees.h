// Process trees that were killed and may still exist. They are checked again at growing intervals.
#pragma once

#include <algorithm>
#include <set>
#include <utility>

#include "src/worker/supervisor/running_table.h"

namespace hodei::worker {

class DyingTrees {
 public:
  // Its main process is gone, and the rest was killed: look at once, in this turn.
  void add(ExecutionId execution) {
    trees_.insert(execution);
    next_check_ = MonoTime{0};
  }
  MonoTime next_check() const { return next_check_; }
  // Those to look at now.
  std::set<ExecutionId> take_due(MonoTime now) {
    if (now < next_check_) return {};
    next_check_ = kNever;
    return std::exchange(trees_, {});
  }
  // False: it is killed again, and looked at again.
  bool is_gone(Running& running, MonoTime now) {
    Enclosure& enclosure = *running.place->enclosure;
    if (enclosure.is_empty()) return true;
    // Killed but not gone yet, or born meanwhile.
    if (running.checks > 0) enclosure.kill();
    const Duration wait = std::min<Duration>(100ms, 500us * (1 << std::min(running.checks++, 10)));
    next_check_ = std::min(next_check_, now + wait);
    trees_.insert(running.execution);
    return false;
  }

 private:
  std::set<ExecutionId> trees_;
  MonoTime next_check_ = kNever;
};

}  // namespace hodei::worker
