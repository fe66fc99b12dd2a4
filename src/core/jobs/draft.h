// A job while a decision about it is being made: a private copy of its head and past, moved along the state table.
#pragma once

#include <algorithm>

#include "src/core/jobs/job.h"

namespace hodei::core {

class Draft {
 public:
  explicit Draft(const JobHead& from);

  JobHead head;
  Past past;

  // Moves the job; the edge must be in the table.
  void move(JobEvent on, WallTime at, std::string reason);
  // The newest execution. There must be one.
  Execution& execution();
  // Removes the past executions from the head and returns them as rows to be archived.
  std::vector<ArchivedExecution> archive();
  // Index of the first transition that this draft added (0 is the submission, which is not in the list).
  size_t first_new() const { return first_new_; }

  JobPtr finish();

 private:
  size_t first_new_;
};

// When something happened. A worker's clock may be wrong, so the time is never later than the report; without a time,
// it is the time of the report.
inline WallTime when(WallTime said, Now told) { return said.us > 0 ? std::min(said, told.wall) : told.wall; }

}  // namespace hodei::core
