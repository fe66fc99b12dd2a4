// Submitting a job from flags: shared by `run`, `job submit` and `template run`.
#pragma once

#include "absl/status/statusor.h"
#include "hodei/v1/job_service.pb.h"

namespace hodei::cli {

struct JobFlags;
struct Session;

// Whether the job takes its standard input from us.
enum class SendsStdin : uint8_t { No, Yes };

absl::StatusOr<v1::QueueJobResponse> submit(Session& session, const JobFlags& flags,
                                            SendsStdin sends_stdin = SendsStdin::No);

}  // namespace hodei::cli
