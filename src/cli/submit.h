// Submitting a job from flags: shared by `run`, `job submit` and `template run`.
#pragma once

#include "absl/status/statusor.h"
#include "hodei/v1/job_service.pb.h"

namespace hodei::cli {

struct JobFlags;
struct Session;

absl::StatusOr<v1::QueueJobResponse> submit(Session& session, const JobFlags& flags);

}  // namespace hodei::cli
