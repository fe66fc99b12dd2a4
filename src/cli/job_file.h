// Job and template files in YAML or JSON, with the field names of the protos.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hodei::v1 {
class QueueJobRequest;
class Template;
}  // namespace hodei::v1

namespace hodei::cli {

// A file holds a JobSpec; or, with `spec`, `template` or `parameters` at its top, a whole QueueJobRequest.
absl::Status read_job(std::string_view text, const std::string& name, hodei::v1::QueueJobRequest& out);

absl::Status read_template(std::string_view text, const std::string& name, hodei::v1::Template& out);

}  // namespace hodei::cli
