// A job that a module of the engine wants, as it is stored and handed to whoever turns requests into jobs (PrepareJob).
// The engine builds no specs: a request names a template, or has the bytes of a spec that somebody else wrote.
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
