#include "src/base/time.h"

#include <ctime>

#include "fmt/format.h"

namespace hodei {
namespace {

int64_t read_us(clockid_t id) {
  timespec ts{};
  clock_gettime(id, &ts);
  return int64_t{ts.tv_sec} * 1'000'000 + ts.tv_nsec / 1'000;
}

}  // namespace

Now SystemClock::now() const { return {{read_us(CLOCK_REALTIME)}, {read_us(CLOCK_BOOTTIME)}}; }

std::string format_utc(WallTime t) {
  const time_t seconds = static_cast<time_t>(t.us / 1'000'000);
  tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, t.us / 1000 % 1000);
}

}  // namespace hodei
