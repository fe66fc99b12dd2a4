#include "src/api/calls/workers/execution_facts.h"

#include "src/base/status.h"
#include "src/core/jobs/job.h"

namespace hodei::api {

absl::StatusOr<ExecutionFacts> find_execution(store::Reader& reader, ExecutionId execution) {
  ASSIGN_OR_RETURN(const store::JobView view, reader.job(execution.job));
  const bool is_current = view.head.current() == execution && core::is_active(view.head.state);
  if (const core::Execution* e = core::find_execution(view.head, execution.number)) {
    return ExecutionFacts{e->worker, view.head.ns.str(), is_current, e->log_bytes, e->ended, view.spec.bytes};
  }
  if (execution.number == 0 || execution.number >= view.head.executions) {
    return absl::NotFoundError(cat("execution_id: there is no execution ", to_string(execution)));
  }
  ASSIGN_OR_RETURN(const auto archived,
                   reader.archived_executions({.job = execution.job, .below = execution.number + 1, .limit = 1}));
  if (!archived.empty() && archived[0].execution.number == execution.number) {
    const core::Execution& e = archived[0].execution;
    return ExecutionFacts{e.worker, view.head.ns.str(), is_current, e.log_bytes, e.ended, view.spec.bytes};
  }
  return absl::NotFoundError(cat("execution_id: there is no execution ", to_string(execution)));
}

absl::Status check_owner(const ExecutionFacts& facts, ExecutionId execution, const WorkerId& worker) {
  if (facts.worker == worker) return absl::OkStatus();
  return absl::PermissionDeniedError(
      cat("execution_id: ", to_string(execution), " does not belong to worker ", worker.str()));
}

}  // namespace hodei::api
