// Submitting a job from flags: shared by `run`, `job submit` and `template run`.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "hodei/v1/job_service.pb.h"

namespace hodei::cli {

struct JobFlags;
struct Session;

// Whether the job takes its standard input from us.
enum class SendsStdin : uint8_t { No, Yes };

absl::StatusOr<v1::QueueJobResponse> submit(Session& session, const JobFlags& flags,
                                            SendsStdin sends_stdin = SendsStdin::No);

// With --dry-run: where the job would go, or why it would wait. Nothing is queued.
absl::StatusOr<std::string> dry_run_text(Session& session, const JobFlags& flags);

}  // namespace hodei::cli
