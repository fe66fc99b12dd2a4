// A request of a module of the engine for a job. The engine builds no specs: a request names a template, or contains
// the bytes of a spec that was written elsewhere. It is stored with the row of the module, and passed to the code that
// creates the job (PrepareJob).
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "src/core/jobs/template.h"

namespace hodei::core {

struct JobRequest {
  std::string ns;
  std::string template_name = {};   // in the same namespace; empty: the spec is the whole job
  std::string spec = {};            // a serialized JobSpec; beside a template, what wins over it
  Values parameters = {};           // of the template
  std::string correlation_id = {};  // empty: one is made

  bool operator==(const JobRequest&) const = default;
};

std::string encode(const JobRequest& request);
// DATA_LOSS: these are not the bytes of a request.
absl::StatusOr<JobRequest> decode_job_request(std::string_view bytes);

}  // namespace hodei::core
