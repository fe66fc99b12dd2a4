// Whether a job may run again, and when.
#pragma once

#include "src/core/jobs/job.h"

namespace hodei::core {

// A job that was sent to a worker and did not start is sent again, without limit: only a person, or a rule about the
// job itself, ends a job that never started. Workers that have had it are tried last.
inline constexpr Duration kFirstDispatchDelay = 100ms;
inline constexpr Duration kLongestDispatchDelay = 30s;
inline constexpr size_t kMaxRefusedBy = 16;

// An execution that ends because its worker is stopped does not count as an attempt. But a job that is interrupted
// again and again may itself be the cause: from the second interruption in a row on, it waits before it is sent again,
// and after kUncountedInterruptions, further interruptions count as attempts. An execution of at least kLongRun resets
// the count.
inline constexpr uint32_t kUncountedInterruptions = 10;
inline constexpr Duration kFirstInterruptionDelay = 1s;
inline constexpr Duration kLongestInterruptionDelay = 60s;
inline constexpr Duration kLongRun = 600s;

inline bool may_retry(const JobHead& job) {
  return job.allow_retry && !job.cancel_requested && job.attempts < job.max_attempts;
}

// The wait before the next attempt: exponential, bounded, and reduced by up to half as jitter. The jitter is derived
// from the job and the attempt, so that a replay makes the same decision.
Duration backoff_delay(const JobHead& job);

// The wait before sending a job again that was lost `times` times in a row before it started. Also the pause for a
// worker that started nothing it was sent for `times` rounds in a row.
Duration dispatch_delay(uint32_t times);

// The wait after `times` interruptions in a row.
Duration interruption_delay(uint32_t times);

}  // namespace hodei::core
