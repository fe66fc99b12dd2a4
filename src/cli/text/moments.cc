#include "src/cli/text/moments.h"

#include <absl/time/time.h>

#include "src/base/status.h"
#include "src/cli/text/quantities.h"

namespace hodei::cli {

absl::StatusOr<WallTime> parse_moment(std::string_view flag, const std::string& text, WallTime now, bool utc) {
  if (const absl::StatusOr<Duration> ago = parse_duration(text); ago.ok()) return now - *ago;
  const absl::TimeZone zone = utc ? absl::UTCTimeZone() : absl::LocalTimeZone();
  for (const char* format : {absl::RFC3339_full, "%Y-%m-%d%ET%H:%M:%E*S", "%Y-%m-%d%ET%H:%M", "%Y-%m-%d %H:%M:%E*S",
                             "%Y-%m-%d %H:%M", "%Y-%m-%d"}) {
    absl::Time time;
    if (absl::ParseTime(format, text, zone, &time, nullptr)) return WallTime{absl::ToUnixMicros(time)};
  }
  return bad_field(flag, "'", text, "' is neither a time ago (10m, 2h30m, 1w) nor a time (2026-11-15T15:04:05Z)");
}

}  // namespace hodei::cli
