#include "src/base/finite.h"

namespace hodei {

int64_t bounded_whole(double value, int64_t low, int64_t high) {
  if (!(value > static_cast<double>(low))) return low;
  if (!(value < static_cast<double>(high))) return high;
  return std::llround(value);
}

int64_t milli_cores(double cores) {
  const double milli = bounded(cores, 0, kMostCores, 0) * 1000;
  // 0.035 * 1000 is a little more than 35: what differs from a whole number only by its representation is that number.
  const double nearest = std::round(milli);
  return static_cast<int64_t>(nearest >= 1 && std::abs(milli - nearest) < 1e-6 ? nearest : std::ceil(milli));
}

}  // namespace hodei
