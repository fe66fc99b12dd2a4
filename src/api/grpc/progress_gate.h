// What the executions of one worker say about their progress, on its way to the loop: the newest word of each, and no
// more of them in a second than the loop should have to decide. What is too much waits for the next message, or for the
// end of its execution.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "src/base/time.h"
#include "src/core/commands.h"

namespace hodei::api {

class ProgressGate {
 public:
  static constexpr size_t kMostPerSecond = 1000;

  // What may go on now, of what comes and of what has waited.
  std::vector<core::ProgressReport> pass(std::vector<core::ProgressReport> fresh, MonoTime now);
  // What waits of one execution, whose end comes right behind it.
  std::optional<core::ProgressReport> take(ExecutionId execution);
  bool has_waiting() const { return !waiting_.empty(); }

 private:
  std::map<ExecutionId, core::ProgressReport> waiting_;
  ExecutionId after_;  // they take turns: this one went last
  size_t left_ = kMostPerSecond;
  MonoTime second_{0};  // in which so many are left
};

}  // namespace hodei::api
