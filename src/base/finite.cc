#include "src/base/finite.h"

namespace hodei {

int64_t bounded_whole(double value, int64_t low, int64_t high) {
  if (!(value > static_cast<double>(low))) return low;
  if (!(value < static_cast<double>(high))) return high;
  return std::llround(value);
}

int64_t milli_cores(double cores) { return static_cast<int64_t>(std::ceil(bounded(cores, 0, kMostCores, 0) * 1000)); }

}  // namespace hodei
