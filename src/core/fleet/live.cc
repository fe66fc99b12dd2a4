#include "src/core/fleet/live.h"

#include "src/core/jobs/job.h"

namespace hodei::core {

void occupy_worker(LiveWorker& worker, const JobHead& job) {
  worker.executions.insert(job.current());
  worker.used += job.shape->needs;
  if (job.labels != nullptr) worker.job_labels.emplace(job.current(), job.labels);
  ++worker.by_class[static_cast<size_t>(job.priority)];
  if (worker.state == WorkerState::Ready) worker.state = *next(worker.state, WorkerEvent::Occupy);
}

void free_worker(LiveWorker& worker, const JobHead& job) {
  worker.executions.erase(job.current());
  worker.used -= job.shape->needs;
  if (job.labels != nullptr) worker.job_labels.erase(job.current());
  --worker.by_class[static_cast<size_t>(job.priority)];
  if (worker.state == WorkerState::Busy && worker.executions.empty()) {
    worker.state = *next(worker.state, WorkerEvent::Empty);
  }
}

}  // namespace hodei::core
