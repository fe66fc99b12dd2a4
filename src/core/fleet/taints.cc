#include "src/core/fleet/taints.h"

#include <memory>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/core/fleet/directory.h"
#include "src/core/placement/rules/taints.h"

namespace hodei::core {

void evict(const LiveWorker& worker, Executions& all, Turn& turn) {
  const std::vector<ExecutionId> executions(worker.executions.begin(), worker.executions.end());
  for (const ExecutionId& execution : executions) {
    const JobHead& job = all.job_of(execution);
    if (is_ending(job)) continue;
    for (const Taint& taint : worker.record->info.taints) {
      if (taint.effect != TaintEffect::NoExecute || tolerates(*job.shape, taint)) continue;
      all.put_back(job, Requeue::Evicted,
                   cat("evicted from worker ", worker.id().str(), ", which has the taint ", taint.key, "=", taint.value,
                       ":NoExecute"),
                   turn);
      break;
    }
  }
}

Answer Taints::decide(const TaintWorker& c, Turn& turn) {
  LiveWorker* worker = workers_.find(c.worker);
  if (worker == nullptr || worker->state == WorkerState::Terminated) {
    return absl::NotFoundError(cat("worker ", c.worker.str(), " is not registered; see `hodei worker list`"));
  }
  if (c.taints.size() > kMaxTaints)
    return bad_field("taints", "must have at most ", kMaxTaints, " entries, not ", c.taints.size());
  for (const Taint& taint : c.taints) {
    if (taint.key.empty()) return bad_field("taints.key", "must not be empty; write key=value:NoSchedule");
  }
  auto record = std::make_shared<WorkerRecord>(*worker->record);
  record->info.taints = c.taints;
  record->info.taints_set = true;
  RETURN_IF_ERROR(validate(record->info));
  if (*record != *worker->record) {
    turn.write(Put<WorkerRecord>{record});
    std::string all;
    for (const Taint& t : c.taints) all += cat(all.empty() ? "" : ", ", t.key, "=", t.value, ":", name(t.effect));
    audit_.record_act({"worker.tainted", c.worker.str(), all.empty() ? "no taints" : all}, turn);
  }
  evict(*worker, *ports_.executions, turn);
  ports_.room->check_reservations(turn);
  ports_.room->fill(*worker, turn);
  return Directory(workers_).decide(DescribeWorkers{c.worker.str(), true}, turn);
}

}  // namespace hodei::core
