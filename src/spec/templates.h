// Templates: stored specs with parameters, and the specs that are rendered from them.
#pragma once

#include "absl/status/statusor.h"
#include "hodei/v1/job_service.pb.h"
#include "src/core/jobs/template.h"
#include "src/core/writes.h"

namespace hodei::spec {

// Checks a template and gives its stored form.
absl::StatusOr<core::TemplateRow> template_row(const v1::Template& wanted, const std::string& ns);
v1::Template to_proto(const core::TemplateRow& row);

// The spec of a stored template with its parameters filled in. What `beside` sets wins: the command as a whole, the
// rest field by field.
absl::StatusOr<v1::JobSpec> rendered(const core::TemplateRow& row, const core::Values& parameters,
                                     const v1::JobSpec& beside);

}  // namespace hodei::spec
