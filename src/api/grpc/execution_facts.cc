#include "src/api/grpc/execution_facts.h"

#include <algorithm>

#include "src/base/status.h"
#include "src/core/job/job.h"

namespace hodei::api {

absl::StatusOr<ExecutionFacts> find_execution(store::Reader& reader, ExecutionId execution) {
  ASSIGN_OR_RETURN(const store::JobView view, reader.job(execution.job));
  const core::Past* past = view.head.past.get();
  if (past != nullptr) {
    const auto it = std::find_if(past->executions.begin(), past->executions.end(),
                                 [&](const core::Execution& e) { return e.number == execution.number; });
    if (it != past->executions.end()) {
      const bool is_current = view.head.current() == execution && core::is_active(view.head.state);
      return ExecutionFacts{it->worker, view.head.ns.str(), is_current, it->log_bytes, view.spec.bytes};
    }
  }
  return absl::NotFoundError(cat("execution_id: there is no execution ", to_string(execution)));
}

absl::Status check_owner(const ExecutionFacts& facts, ExecutionId execution, const WorkerId& worker) {
  if (facts.worker == worker) return absl::OkStatus();
  return absl::PermissionDeniedError(
      cat("execution_id: ", to_string(execution), " was not given to worker ", worker.str()));
}

}  // namespace hodei::api
