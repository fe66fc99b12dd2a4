#include "src/spec/prepare.h"

#include "hodei/v1/job.pb.h"
#include "src/base/status.h"
#include "src/spec/submission.h"
#include "src/spec/templates.h"

namespace hodei::spec {

absl::StatusOr<core::NewJob> prepare_job(const core::JobWish& wish, const core::TemplateRow* from) {
  v1::JobSpec spec;
  if (!spec.ParseFromString(wish.spec)) return bad_field("spec", "cannot be read; it is not a JobSpec");
  if (from == nullptr && !wish.parameters.empty()) return bad_field("parameters", "are only for templates");
  if (from != nullptr) {
    ASSIGN_OR_RETURN(spec, rendered(*from, wish.parameters, spec));
  }
  return new_job(spec, wish.ns, wish.correlation_id, wish.template_name);
}

}  // namespace hodei::spec
