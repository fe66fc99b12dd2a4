#include "src/api/calls/jobs/submissions.h"

#include "src/base/status.h"
#include "src/spec/templates.h"

namespace hodei::api {

absl::StatusOr<v1::JobSpec> rendered_spec(const v1::QueueJobRequest& request, const std::string& ns,
                                          store::Reader& reader) {
  if (request.template_().empty()) {
    if (!request.parameters().empty()) return bad_field("parameters", "are only for templates; set `template`");
    if (!request.has_spec()) return bad_field("spec", "is required unless `template` is set");
    return request.spec();
  }
  const absl::StatusOr<core::TemplateRow> row = reader.job_template(ns, request.template_());
  if (absl::IsNotFound(row.status())) {
    return absl::NotFoundError(
        cat("template: '", request.template_(), "' does not exist in namespace '", ns, "'; see `hodei template list`"));
  }
  RETURN_IF_ERROR(row.status());
  return spec::rendered(*row, {request.parameters().begin(), request.parameters().end()}, request.spec());
}

absl::Status find_key_owners(const server::KeyHorizon& horizon, store::Reader& reader, core::Submit& submit) {
  if (!horizon.ask_store) return absl::OkStatus();
  std::vector<Hash128> keys;
  for (const core::NewJob& job : submit.jobs) {
    if (job.idempotency) keys.push_back(*job.idempotency);
  }
  if (keys.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<std::optional<core::KeyOwner>> owners, reader.key_owners(keys));
  size_t at = 0;
  for (core::NewJob& job : submit.jobs) {
    if (!job.idempotency) continue;
    job.key_owner = owners[at++];
    job.key_asked_before = horizon.committed;
  }
  return absl::OkStatus();
}

}  // namespace hodei::api
