// The flags of `job logs`, and the request that they make if they fit together.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "src/base/time.h"

namespace re2 {
class RE2;
}

namespace hodei::cli {

struct LogFlags {
  std::string id;
  int32_t execution = 0;
  std::string tail, since, pattern, offset;
  bool follow = false;
  bool timestamps = false;
  bool raw = false;
  bool stdout_only = false;
  bool stderr_only = false;
};

struct LogRequest {
  std::string id;
  int32_t execution = 0;  // 0: all
  int64_t offset = -1;    // begin there; -1: at the beginning
  int64_t tail = 0;       // lines; 0: all
  WallTime since;         // not set: from the beginning
  bool follow = false;
  bool timestamps = false;
  bool raw = false;
  bool utc = false;  // of timestamps
  bool with_stdout = true;
  bool with_stderr = true;
  std::shared_ptr<const re2::RE2> pattern;  // none: every line

  bool chooses_lines() const { return pattern != nullptr || !with_stdout || !with_stderr; }
};

// `json`: the output will be JSON. `utc`: the zone of times without one. INVALID_ARGUMENT names the flag and what to
// do.
absl::StatusOr<LogRequest> make_log_request(const LogFlags& flags, bool json, WallTime now, bool utc = false);

bool contains(const re2::RE2& pattern, std::string_view line);  // a newline at its end does not count

}  // namespace hodei::cli
