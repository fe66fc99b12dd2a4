// From a request to a job that the engine can take: template, translation, validation, one place for all RPCs that
// submit.
#pragma once

#include "absl/status/statusor.h"
#include "hodei/v1/job_service.pb.h"
#include "src/core/commands.h"
#include "src/core/job/template.h"
#include "src/server/key_horizon.h"
#include "src/store/store.h"

namespace hodei::api {

// Limits of a call, named in docs/limits.md.
inline constexpr int kMaxBatch = 10'000;

absl::StatusOr<std::string> namespace_of(const std::string& given);

// The spec of a request, rendered from its template where it names one.
absl::StatusOr<v1::JobSpec> rendered_spec(const v1::QueueJobRequest& request, const std::string& ns,
                                          store::Reader& reader);

// Checks the spec and makes a job of it. Its secrets have been sealed.
absl::StatusOr<core::NewJob> new_job(const v1::JobSpec& spec, const std::string& ns, const std::string& correlation_id,
                                     const std::string& template_name);

// An idempotency key as it is stored: it counts within its namespace.
Hash128 key_hash(const std::string& ns, const std::string& key);

// Asks the store for the idempotency keys of a submission, where the engine may have forgotten them.
absl::Status find_key_owners(const server::KeyHorizon& horizon, store::Reader& reader, core::Submit& submit);

// Checks a template and gives its stored form.
absl::StatusOr<core::TemplateRow> template_row(const v1::Template& wanted, const std::string& ns);
v1::Template to_proto(const core::TemplateRow& row);

}  // namespace hodei::api
