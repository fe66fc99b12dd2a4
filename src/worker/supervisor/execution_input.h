// The standard input of executions, as the supervisor holds it.
#pragma once

#include <set>
#include <vector>

#include "src/worker/protocol/protocol.h"
#include "src/worker/supervisor/input_feeder.h"
#include "src/worker/supervisor/running_table.h"

namespace hodei::worker {

class ExecutionInputs {
 public:
  explicit ExecutionInputs(const RunningTable& table) : table_(table) {}

  void begin(Running& running);  // it takes one
  void forget(ExecutionId execution) { with_input_.erase(execution); }

  void take(const protocol::Input& piece);
  std::vector<protocol::InputTaken> news();            // for the agent
  const InputFeeder* of(ExecutionId execution) const;  // null: it takes none, or has ended
  static void note_half_read(Running& running);        // when it has ended

 private:
  const RunningTable& table_;
  std::set<ExecutionId> with_input_;  // of those that run
};

}  // namespace hodei::worker
