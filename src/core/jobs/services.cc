#include "src/core/jobs/services.h"

#include <algorithm>
#include <vector>

namespace hodei::core {

const JobHead* WorkersExecutions::current(const WorkerId& worker, ExecutionId execution) const {
  return core::current(jobs_, worker, execution);
}

bool WorkersExecutions::was_given(const WorkerId& worker, ExecutionId execution) const {
  const LiveJob* live = jobs_.find(execution.job);
  if (live == nullptr || live->head->past == nullptr) return false;
  const std::vector<Execution>& all = live->head->past->executions;
  return std::any_of(all.begin(), all.end(),
                     [&](const Execution& e) { return e.number == execution.number && e.worker == worker; });
}

void WorkersExecutions::started(const WorkerId& worker, ExecutionId execution, Turn& turn) {
  reports_.started(worker, {execution, {}}, turn);
}

void WorkersExecutions::lose(ExecutionId execution, const std::string& why, Turn& turn) {
  requeues_.lose(execution, why, turn);
}

void WorkersExecutions::hear_of_interruption(const WorkerId& worker, ExecutionId execution, Turn& turn) {
  requeues_.hear_of_interruption(worker, execution, turn);
}

void WorkersExecutions::put_back(const JobHead& job, Requeue kind, const std::string& why, Turn& turn) {
  requeues_.put_back(job, kind, why, turn);
}

}  // namespace hodei::core
