#include "src/api/wiring/spec_preparer.h"

#include <utility>

#include "src/base/status.h"
#include "src/spec/prepare.h"

namespace hodei::api {

void SpecPreparer::prepare(const core::PrepareJob& wanted) {
  pool_.post_always([this, wanted] {
    core::SubmitFor command{.owner = wanted.owner, .attempt = wanted.attempt};
    absl::StatusOr<core::NewJob> job = make(wanted.bytes);
    if (job.ok()) {
      command.job = *std::move(job);
    } else {
      command.job = job.status();
    }
    post_(std::move(command));
  });
}

absl::StatusOr<core::NewJob> SpecPreparer::make(const std::string& bytes) {
  ASSIGN_OR_RETURN(const core::JobRequest request, core::decode_job_request(bytes));
  if (request.template_name.empty()) return spec::prepare_job(request, nullptr);
  ASSIGN_OR_RETURN(const core::TemplateRow row, lookups_.job_template(request.ns, request.template_name));
  return spec::prepare_job(request, &row);
}

}  // namespace hodei::api
