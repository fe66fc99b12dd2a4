// A batch of writes, folded: for each table, what remains to be done after all writes of the batch. Tables do not
// depend on each other, so the result is the same as that of the writes in their original order.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "src/core/writes.h"

namespace hodei::store {

// All that one batch does to one job.
struct JobChange {
  JobId job{};
  const core::SpecRow* spec = nullptr;  // set: the job enters with this batch
  const core::JobHead* last = nullptr;  // as the batch leaves it
  uint64_t first_step = 0;              // of its first write: the stored row must not be further than this
  bool finished = false;

  bool enters() const { return spec != nullptr; }
};

class Batch {
 public:
  // Points into `writes`, which must outlive it. Refuses what no store could accept: a live job in a final state, a
  // finished one that is not, a step back, a write after the end, a spec without its job.
  absl::Status fold(const core::Writes& writes);

  const std::vector<JobChange>& jobs() const { return jobs_; }               // by growing number
  const std::vector<const core::Write*>& others() const { return others_; }  // in the order they were written
  const std::vector<JobId>& erased() const { return erased_; }
  const std::vector<ExecutionId>& archived() const { return archived_; }
  std::optional<uint64_t> next_job() const { return next_job_; }
  const core::SchedulerConfig* scheduler() const { return scheduler_; }

 private:
  JobChange& change_of(JobId job);
  absl::Status add_spec(const core::SpecRow& spec);
  absl::Status add_job(const core::JobHead& job, bool finished);

  std::vector<JobChange> jobs_;
  absl::flat_hash_map<JobId, size_t> index_;
  std::vector<const core::Write*> others_;
  std::vector<JobId> erased_;
  std::vector<ExecutionId> archived_;
  std::optional<uint64_t> next_job_;
  const core::SchedulerConfig* scheduler_ = nullptr;
};

}  // namespace hodei::store
