#include "src/spec/prepare.h"

#include "hodei/v1/job.pb.h"
#include "src/base/status.h"
#include "src/spec/submission.h"
#include "src/spec/templates.h"

namespace hodei::spec {

absl::StatusOr<core::NewJob> prepare_job(const core::JobRequest& request, const core::TemplateRow* from) {
  v1::JobSpec spec;
  if (!spec.ParseFromString(request.spec)) return bad_field("spec", "cannot be read; it is not a JobSpec");
  if (from == nullptr && !request.parameters.empty()) return bad_field("parameters", "are only for templates");
  if (from != nullptr) {
    ASSIGN_OR_RETURN(spec, rendered(*from, request.parameters, spec));
  }
  return new_job(spec, request.ns, request.correlation_id, request.template_name);
}

}  // namespace hodei::spec
