#include "src/api/grpc/given_executions.h"

#include "src/api/grpc/execution_facts.h"
#include "src/base/status.h"

namespace hodei::api {

void GivenExecutions::give(ExecutionId execution) {
  const std::lock_guard lock(mutex_);
  live_.insert(execution);
}

void GivenExecutions::end(ExecutionId execution, std::optional<int64_t> log_bytes) {
  const std::lock_guard lock(mutex_);
  if (live_.erase(execution) > 0) remember(execution, {true, log_bytes});
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
  if (live_.contains(execution)) return Known{true, std::nullopt};
  const auto it = known_.find(execution);
  return it == known_.end() ? std::nullopt : std::optional<Known>(it->second);
}

absl::StatusOr<GivenExecutions::Known> GivenExecutions::look_up(ExecutionId execution, const WorkerId& worker) {
  const absl::StatusOr<ExecutionFacts> facts = find_execution(reader_, execution);
  if (!facts.ok() && !absl::IsNotFound(facts.status())) return facts.status();
  const Known known = facts.ok() && facts->worker == worker ? Known{true, facts->log_bytes} : Known{};
  const std::lock_guard lock(mutex_);
  remember(execution, known);
  return known;
}

absl::StatusOr<std::optional<std::string>> GivenExecutions::against(const store::LogPiece& piece,
                                                                    const WorkerId& worker) {
  std::optional<Known> known = recall(piece.execution);
  if (!known) {
    ASSIGN_OR_RETURN(known, look_up(piece.execution, worker));
  }
  if (!known->is_own) {
    return cat("output of ", to_string(piece.execution), " is refused: it does not belong to worker ", worker.str());
  }
  const int64_t end = piece.offset + static_cast<int64_t>(piece.data.size());
  if (known->log_bytes && end > *known->log_bytes) {
    return cat("output of ", to_string(piece.execution), " is refused: its log ended at ", *known->log_bytes, " bytes");
  }
  return std::nullopt;
}

}  // namespace hodei::api
