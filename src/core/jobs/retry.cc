#include "src/core/jobs/retry.h"

#include <algorithm>
#include <cmath>

#include "src/base/finite.h"
#include "src/base/hash.h"

namespace hodei::core {
namespace {

Duration doubled(Duration first, uint32_t times, Duration longest) {
  constexpr uint32_t kMostDoublings = 16;  // far beyond the longest delay
  return std::min(first * (int64_t{1} << std::min(times, kMostDoublings)), longest);
}

}  // namespace

Duration backoff_delay(const JobHead& job) {
  const double exponent = job.attempts > 0 ? job.attempts - 1 : 0;
  const double wanted = static_cast<double>(job.backoff.initial.count()) * std::pow(job.backoff.factor, exponent);
  const auto longest = static_cast<double>(std::max<int64_t>(job.backoff.max.count(), 0));
  const double wait = bounded(wanted, 0, longest, longest);
  const uint64_t random = mix64(number(job.id) * 1'000'003 + job.attempts);
  const double share = static_cast<double>(random >> 11) / static_cast<double>(uint64_t{1} << 53);
  return Duration(static_cast<int64_t>(wait * (1 - share / 2)));
}

Duration dispatch_delay(uint32_t times) {
  return doubled(kFirstDispatchDelay, times == 0 ? 0 : times - 1, kLongestDispatchDelay);
}

Duration interruption_delay(uint32_t times) {
  return times < 2 ? Duration(0) : doubled(kFirstInterruptionDelay, times - 2, kLongestInterruptionDelay);
}

}  // namespace hodei::core
