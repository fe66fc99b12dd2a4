// Creates a job from the request of a module of the engine, such as a task of a workflow.
#pragma once

#include "absl/status/statusor.h"
#include "src/core/commands.h"
#include "src/core/jobs/job_request.h"

namespace hodei::spec {

// `from` is the template that the request names; null: it names none. From any thread. Values of secrets are sealed or
// left out: a request comes out of the store, where no readable one may be.
absl::StatusOr<core::NewJob> prepare_job(const core::JobRequest& request, const core::TemplateRow* from);

}  // namespace hodei::spec
