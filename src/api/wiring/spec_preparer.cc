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
  ASSIGN_OR_RETURN(const core::JobWish wish, core::decode_wish(bytes));
  if (wish.template_name.empty()) return spec::prepare_job(wish, nullptr);
  ASSIGN_OR_RETURN(const core::TemplateRow row, lookups_.job_template(wish.ns, wish.template_name));
  return spec::prepare_job(wish, &row);
}

}  // namespace hodei::api
