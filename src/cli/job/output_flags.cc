#include "src/cli/job/output_flags.h"

#include <CLI/CLI.hpp>

#include "src/base/status.h"
#include "src/cli/text/quantities.h"
#include "src/cli/text/suggestion.h"

namespace hodei::cli {
namespace {

absl::StatusOr<int64_t> size_of(const char* flag, const std::string& text) {
  const absl::StatusOr<int64_t> bytes = parse_bytes(text);
  if (!bytes.ok()) return bad_field(flag, std::string(bytes.status().message()));
  if (*bytes == 0) return bad_field(flag, "must be greater than 0; leave it out for no limit");
  return bytes;
}

}  // namespace

void add_output_flags(CLI::App& command, OutputFlags& f) {
  command.add_option("--log-policy", f.policy, "when output comes too fast: block (the job waits) or drop")
      ->type_name("POLICY");
  command.add_option("--log-limit", f.limit, "keep at most this much output; the rest is counted and dropped")
      ->type_name("SIZE");
  command.add_option("--log-rate", f.rate, "keep at most this much output per second; the rest waits or is dropped")
      ->type_name("SIZE");
}

absl::Status set_output(const OutputFlags& flags, v1::JobSpec& spec) {
  if (!flags.policy.empty()) {
    v1::LogOptions::Policy policy{};
    if (!v1::LogOptions::Policy_Parse(flags.policy, &policy) || policy == 0) {
      return bad_field("--log-policy", "'", flags.policy, "' is not one of block, drop",
                       did_you_mean(flags.policy, {"block", "drop"}));
    }
    spec.mutable_logs()->set_policy(policy);
  }
  if (!flags.limit.empty()) {
    ASSIGN_OR_RETURN(const int64_t bytes, size_of("--log-limit", flags.limit));
    spec.mutable_logs()->set_max_bytes(bytes);
  }
  if (!flags.rate.empty()) {
    ASSIGN_OR_RETURN(const int64_t bytes, size_of("--log-rate", flags.rate));
    spec.mutable_logs()->set_max_bytes_per_second(bytes);
  }
  return absl::OkStatus();
}

}  // namespace hodei::cli
