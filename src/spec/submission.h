// Creates a job for the engine from a spec. Everything that submits jobs uses this one place.
#pragma once

#include "absl/status/statusor.h"
#include "hodei/v1/job_service.pb.h"
#include "src/core/commands.h"

namespace hodei::spec {

absl::StatusOr<std::string> namespace_of(const std::string& given);

// Checks the spec and makes a job of it. Its secrets have been sealed.
absl::StatusOr<core::NewJob> new_job(const v1::JobSpec& spec, const std::string& ns, const std::string& correlation_id,
                                     const std::string& template_name);

// An idempotency key as it is stored: it counts within its namespace.
Hash128 key_hash(const std::string& ns, const std::string& key);

}  // namespace hodei::spec
