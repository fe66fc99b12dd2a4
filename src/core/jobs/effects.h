// What must be done about jobs and their executions once a batch is durable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "src/base/ids.h"
#include "src/base/time.h"
#include "src/core/jobs/job.h"
#include "src/core/rows/row.h"

namespace hodei::core {

struct RunExecution {
  WorkerId worker;
  uint64_t stream = 0;
  ExecutionId execution;
  uint32_t attempt = 1;
  bool has_secrets = false;
};
struct CancelExecution {
  WorkerId worker;
  uint64_t stream = 0;
  ExecutionId execution;
  bool timed_out = false;
  Duration grace{0};
};
struct AckResult {
  WorkerId worker;
  uint64_t stream = 0;
  ExecutionId execution;
};
// Transitions from index `first` on are new (index 0 is the submission).
struct JobMoved {
  JobPtr job;
  size_t first = 0;
};
struct JobProgressed {
  JobPtr job;
};
// The worker will never send the rest of this execution's output.
struct ExecutionLost {
  ExecutionId execution;
};
// A module wants a job. The engine builds no specs: a thread beside the loop creates the job from these bytes, which
// the module wrote, and answers with SubmitFor.
struct PrepareJob {
  Owner owner;
  uint32_t attempt = 0;
  std::string bytes;
};

using JobEffects =
    TypeList<RunExecution, CancelExecution, AckResult, JobMoved, JobProgressed, ExecutionLost, PrepareJob>;

}  // namespace hodei::core
