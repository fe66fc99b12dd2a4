// The executions that the worker of one stream was given. What it says about any other is refused.
//
// What it is given on this stream is remembered here, and so is what it brought along and the engine knows of; output
// of older executions (late output of one that was given to somebody else meanwhile, too) is looked up in the store.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "src/base/ids.h"
#include "src/base/time.h"
#include "src/store/log_store.h"
#include "src/store/store.h"

namespace hodei::api {

class GivenExecutions {
 public:
  // Ended or foreign executions that one stream remembers; about older ones the store is asked again.
  static constexpr size_t kMaxRemembered = 1'024;

  // The log of an execution whose result did not say how long it is may grow for so long after its end. What is under
  // way as far as this stream knows is asked for again as often: it may have been ended by a call beside the stream.
  static constexpr Duration kGraceAfterEnd = std::chrono::seconds(60);

  GivenExecutions(store::Reader& reader, const Clock& clock) : reader_(reader), clock_(clock) {}

  void give(ExecutionId execution);
  // Its result has come. `log_bytes`: how much it printed, if the worker said.
  void end(ExecutionId execution, std::optional<int64_t> log_bytes);
  // As far as this stream remembers, without asking the store.
  bool has(ExecutionId execution) const;

  // Why this output is not taken, in words for the worker; nothing: it is. An error: the store cannot tell.
  absl::StatusOr<std::optional<std::string>> against(const store::LogPiece& piece, const WorkerId& worker);

 private:
  // Of an execution that is not under way on this stream.
  struct Known {
    bool is_own = false;
    std::optional<int64_t> log_bytes;
    MonoTime open_until = kNever;  // of its log, where nobody said how long it is
  };

  std::optional<Known> recall(ExecutionId execution) const;
  absl::StatusOr<Known> look_up(ExecutionId execution, const WorkerId& worker);
  void remember(ExecutionId execution, const Known& known);  // with the mutex held
  bool is_asked_again(ExecutionId execution);

  store::Reader& reader_;
  const Clock& clock_;
  mutable std::mutex mutex_;                         // guards what follows
  absl::flat_hash_map<ExecutionId, MonoTime> live_;  // with the last time that they were known to be
  absl::flat_hash_map<ExecutionId, Known> known_;
  std::deque<ExecutionId> oldest_;  // of known_, by age
};

}  // namespace hodei::api
