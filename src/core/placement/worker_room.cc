#include "src/core/placement/worker_room.h"

#include "src/base/status.h"

namespace hodei::core {

void WorkerRoom::record(LiveWorker& worker, const WorkerRecordPtr& record, bool is_listed) {
  if (worker.kind != nullptr && is_listed) return roster_.workers.change(&worker, record);
  if (worker.kind != nullptr) roster_.workers.remove(&worker);
  worker.record = record;
  if (is_listed) roster_.workers.add(&worker);
}

void WorkerRoom::remove(LiveWorker& worker) {
  if (worker.kind != nullptr) roster_.workers.remove(&worker);
}

// Submissions stop at half of this: there is room for as many kinds again.
absl::Status WorkerRoom::check_kind(const WorkerInfo& info) const {
  if (roster_.judgement_bytes(1) <= 2 * config_.max_judgement_bytes || roster_.workers.knows_kind_of(info)) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(cat("info.labels: there are ", roster_.workers.size(), " kinds of workers and ",
                                          roster_.shapes.with_jobs(),
                                          " different combinations of resources and rules waiting, "
                                          "which is the limit; give workers of one kind the same labels"));
}

}  // namespace hodei::core
