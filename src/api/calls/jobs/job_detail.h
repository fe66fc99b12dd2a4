// A job with its executions, page by page, and their transitions.
#pragma once

#include "hodei/v1/job_service.pb.h"
#include "src/store/store.h"

namespace hodei::api {

// A page of executions holds about this much at most, so that an answer always fits into a message.
inline constexpr size_t kMaxExecutionPageBytes = size_t{1} << 20;

absl::Status read_job(store::Reader& reader, const v1::GetJobRequest& in, v1::Job* out);

// What has happened to a job, the newest execution first. At least one comes, whatever its size.
struct ExecutionPage {
  std::vector<core::ArchivedExecution> executions;
  bool reaches_back = true;  // to the first that is kept
};

struct ExecutionRange {
  uint32_t below = UINT32_MAX;
  size_t limit = 50;
  size_t max_bytes = kMaxExecutionPageBytes;
};

absl::StatusOr<ExecutionPage> executions_of(store::Reader& reader, const core::JobHead& job,
                                            const ExecutionRange& range);

}  // namespace hodei::api
