// The masks that hide the secrets of executions, and the text that passes through them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "src/base/run_facts.h"
#include "src/worker/output/mask_builder.h"
#include "src/worker/protocol/execution_notes.h"
#include "src/worker/reports/report_line.h"

namespace hodei::worker {

class ExecutionMasks {
 public:
  // What the agent knows of its executions, secrets included. It outlives the masks.
  explicit ExecutionMasks(const NotesByExecution& notes) : notes_(notes) {}
  void start() { builder_.start(); }
  void stop() { builder_.stop(); }

  void ask(ExecutionId execution);  // of the secrets that it was given; nothing where there are none
  int ready_fd() const { return builder_.ready_fd(); }
  std::vector<MaskBuilder::Made> take();  // those that have been made since; known from here on
  void forget(ExecutionId execution) { masks_.erase(execution); }

  bool is_awaited(ExecutionId execution) const;             // it has secrets, and no mask yet
  MaskBuilder::SharedMask of(ExecutionId execution) const;  // null: there is nothing to hide, or not yet a mask
  bool hides(ExecutionId execution, const std::string& text) const;  // some of it
  ProgressLine masked(ExecutionId execution, const ProgressLine& progress) const;
  void mask_outputs(ExecutionId execution, RunFacts& facts) const;

 private:
  const NotesByExecution& notes_;
  MaskBuilder builder_;
  std::map<ExecutionId, MaskBuilder::SharedMask> masks_;  // of those with secrets, once they are made
};

}  // namespace hodei::worker
