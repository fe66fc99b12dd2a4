#include "src/cli/terminal/style.h"

#include <absl/time/time.h>

namespace hodei::cli {

std::string shown_time(WallTime time, const Style& style) {
  if (style.utc) return format_utc(time);
  const absl::Time at = absl::FromUnixMicros(time.us);
  const absl::TimeZone zone = absl::LocalTimeZone();
  if (zone.At(at).offset == 0) return format_utc(time);
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3S%Ez", at, zone);
}

}  // namespace hodei::cli
