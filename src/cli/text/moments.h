// Parses points in time as people type them.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "src/base/time.h"

namespace hodei::cli {

// "10m" (ago), "2026-11-15T15:04:05Z", "2026-11-15 15:04", "2026-11-15"; without a zone it is that of this machine, or
// UTC when `utc` says so. `flag` is named in the error.
absl::StatusOr<WallTime> parse_moment(std::string_view flag, const std::string& text, WallTime now, bool utc);

}  // namespace hodei::cli
