// Job and template files in YAML or JSON, with the field names of the protos.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hodei::v1 {
class QueueJobRequest;
class Template;
}  // namespace hodei::v1

namespace hodei::cli {

// A file of several jobs: how large it may be, and how many of them it may hold.
inline constexpr size_t kLargestJobsFile = 16 << 20;
inline constexpr size_t kMostJobsOfAFile = 10'000;

// A file holds a JobSpec; or, with `spec`, `template` or `parameters` at its top, a whole QueueJobRequest; or a job as
// `job get -o yaml` prints it, which is queued again.
absl::Status read_job(std::string_view text, const std::string& name, hodei::v1::QueueJobRequest& out);

// The same, one or more: YAML documents parted by `---`, a list, or JSON Lines (one job per line).
absl::StatusOr<std::vector<hodei::v1::QueueJobRequest>> read_jobs(std::string_view text, const std::string& name);

absl::Status read_template(std::string_view text, const std::string& name, hodei::v1::Template& out);

}  // namespace hodei::cli
