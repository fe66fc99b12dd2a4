// Reads what a submission needs from the store: its template, and the jobs that already have its idempotency keys.
#pragma once

#include "absl/status/statusor.h"
#include "hodei/v1/job_service.pb.h"
#include "src/core/commands.h"
#include "src/server/key_horizon.h"
#include "src/store/store.h"

namespace hodei::api {

// Limits of a call, named in docs/limits.md.
inline constexpr int kMaxBatch = 10'000;

// The spec of a request, rendered from its template where it names one.
absl::StatusOr<v1::JobSpec> rendered_spec(const v1::QueueJobRequest& request, const std::string& ns,
                                          store::Reader& reader);

// Asks the store for the idempotency keys of a submission, where the engine may have forgotten them.
absl::Status find_key_owners(const server::KeyHorizon& horizon, store::Reader& reader, core::Submit& submit);

}  // namespace hodei::api
