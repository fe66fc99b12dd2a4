#include "src/cli/job/log_request.h"

#include <re2/re2.h>

#include "src/base/status.h"
#include "src/cli/text/moments.h"
#include "src/cli/text/quantities.h"

namespace hodei::cli {
namespace {

constexpr int64_t kLongestTail = 1'000'000;
constexpr int64_t kLargestOffset = int64_t{1} << 60;

absl::Status check_together(const LogFlags& f, bool json) {
  if (f.stdout_only && f.stderr_only) return bad_field("--stdout-only", "cannot be combined with --stderr-only");
  if (f.raw && json) return bad_field("--raw", "cannot be combined with -o json, which escapes bytes");
  if (f.raw && f.timestamps)
    return bad_field("--raw", "cannot be combined with --timestamps: raw output is the job's own bytes");
  if (f.raw && !f.pattern.empty())
    return bad_field("--raw", "cannot be combined with --grep, which selects whole lines");
  if (!f.offset.empty() && (!f.tail.empty() || !f.since.empty())) {
    return bad_field("--offset", "cannot be combined with --tail or --since");
  }
  if (!f.offset.empty() && f.execution == 0) {
    return bad_field("--offset", "requires --attempt N");
  }
  if (f.execution < 0) return bad_field("--attempt", "must not be negative");
  return absl::OkStatus();
}

absl::StatusOr<int64_t> number_of(const char* flag, const std::string& text, int64_t low, int64_t high) {
  const absl::StatusOr<int64_t> number = parse_count(text, low, high);
  if (!number.ok()) return bad_field(flag, std::string(number.status().message()));
  return number;
}

absl::StatusOr<std::shared_ptr<const RE2>> compile(const std::string& text) {
  RE2::Options options(RE2::Quiet);
  auto pattern = std::make_shared<const RE2>(text, options);
  if (!pattern->ok()) return bad_field("--grep", "'", text, "' is not a regular expression: ", pattern->error());
  return pattern;
}

}  // namespace

bool contains(const re2::RE2& pattern, std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  return RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), pattern);
}

absl::StatusOr<LogRequest> make_log_request(const LogFlags& f, bool json, WallTime now, bool utc) {
  RETURN_IF_ERROR(check_together(f, json));
  LogRequest out;
  out.id = f.id;
  out.execution = f.execution;
  out.follow = f.follow;
  out.timestamps = f.timestamps;
  out.raw = f.raw;
  out.utc = utc;
  out.with_stdout = !f.stderr_only;
  out.with_stderr = !f.stdout_only;
  if (!f.tail.empty()) {
    ASSIGN_OR_RETURN(out.tail, number_of("--tail", f.tail, 1, kLongestTail));
  }
  if (!f.offset.empty()) {
    ASSIGN_OR_RETURN(out.offset, number_of("--offset", f.offset, 0, kLargestOffset));
  }
  if (!f.since.empty()) {
    ASSIGN_OR_RETURN(out.since, parse_moment("--since", f.since, now, utc));
  }
  if (!f.pattern.empty()) {
    ASSIGN_OR_RETURN(out.pattern, compile(f.pattern));
  }
  return out;
}

}  // namespace hodei::cli
