#include "src/api/grpc/given_executions.h"

#include <algorithm>

#include "src/api/calls/workers/execution_facts.h"
#include "src/base/status.h"

namespace hodei::api {

void GivenExecutions::give(ExecutionId execution) {
  const std::lock_guard lock(mutex_);
  live_[execution] = clock_.now().mono;
}

void GivenExecutions::end(ExecutionId execution, std::optional<int64_t> log_bytes) {
  const std::lock_guard lock(mutex_);
  if (live_.erase(execution) == 0) return;
  remember(execution, {true, log_bytes, clock_.now().mono + kGraceAfterEnd});
}

bool GivenExecutions::has(ExecutionId execution) const {
  const std::optional<Known> known = recall(execution);
  return known && known->is_own;
}

void GivenExecutions::remember(ExecutionId execution, const Known& known) {
  if (!known_.insert_or_assign(execution, known).second) return;
  oldest_.push_back(execution);
  if (oldest_.size() <= kMaxRemembered) return;
  known_.erase(oldest_.front());
  oldest_.pop_front();
}

std::optional<GivenExecutions::Known> GivenExecutions::recall(ExecutionId execution) const {
  const std::lock_guard lock(mutex_);
  if (live_.contains(execution)) return Known{.is_own = true};
  const auto it = known_.find(execution);
  return it == known_.end() ? std::nullopt : std::optional<Known>(it->second);
}

absl::StatusOr<GivenExecutions::Known> GivenExecutions::look_up(ExecutionId execution, const WorkerId& worker) {
  const absl::StatusOr<ExecutionFacts> facts = find_execution(reader_, execution);
  if (!facts.ok() && !absl::IsNotFound(facts.status())) return facts.status();
  const Now now = clock_.now();
  Known known;
  if (facts.ok() && facts->worker == worker) known = {true, facts->log_bytes};
  const std::lock_guard lock(mutex_);
  if (known.is_own && facts->is_current) {
    live_[execution] = now.mono;
    return known;
  }
  live_.erase(execution);
  if (known.is_own) {
    const Duration since = std::max(now.wall - facts->ended, Duration(0));
    known.open_until = now.mono + std::max(kGraceAfterEnd - since, Duration(0));
  }
  remember(execution, known);
  return known;
}

bool GivenExecutions::is_asked_again(ExecutionId execution) {
  const std::lock_guard lock(mutex_);
  const auto live = live_.find(execution);
  return live != live_.end() && clock_.now().mono - live->second >= kGraceAfterEnd;
}

absl::StatusOr<std::optional<std::string>> GivenExecutions::against(const store::LogPiece& piece,
                                                                    const WorkerId& worker) {
  std::optional<Known> known = recall(piece.execution);
  if (!known || is_asked_again(piece.execution)) {
    ASSIGN_OR_RETURN(known, look_up(piece.execution, worker));
  }
  if (!known->is_own) {
    return cat("output of ", to_string(piece.execution), " is refused: it does not belong to worker ", worker.str());
  }
  const int64_t end = piece.offset + static_cast<int64_t>(piece.data.size());
  if (known->log_bytes && end > *known->log_bytes) {
    return cat("output of ", to_string(piece.execution), " is refused: its log ended at ", *known->log_bytes, " bytes");
  }
  if (!known->log_bytes && clock_.now().mono >= known->open_until) {
    return cat("output of ", to_string(piece.execution), " is refused: it ended more than ", kGraceAfterEnd / 1s,
               " s ago");
  }
  return std::nullopt;
}

}  // namespace hodei::api
