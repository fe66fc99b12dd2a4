// May a job run again, and when.
#pragma once

#include "src/core/job/job.h"

namespace hodei::core {

// A job that was sent to a worker and did not start there is sent again, for as long as it takes: only a person, or a
// rule about the job itself, ends one that never started. Workers that had it are tried after all others.
inline constexpr Duration kFirstDispatchDelay = 100ms;
inline constexpr Duration kLongestDispatchDelay = 30s;
inline constexpr size_t kMaxRefusedBy = 16;

// An execution that ends because its worker is stopped is no attempt, but a job that is interrupted again and again may
// be the cause of it. From the second interruption in a row on it waits, and those behind the first so many count. One
// that was with its worker for long begins the row anew.
inline constexpr uint32_t kUncountedInterruptions = 10;
inline constexpr Duration kFirstInterruptionDelay = 1s;
inline constexpr Duration kLongestInterruptionDelay = 60s;
inline constexpr Duration kLongRun = 600s;

inline bool may_retry(const JobHead& job) {
  return job.allow_retry && !job.cancel_requested && job.attempts < job.max_attempts;
}

// The wait before the attempt after `attempts`: exponential, bounded, less up to half by jitter. The jitter comes from
// the job and the attempt, so the same decision is made on every replay.
Duration backoff_delay(const JobHead& job);

// The wait before a job is sent again that was lost `times` times in a row before it started; also how long a worker is
// left alone that did not start anything of what it was sent, so many rounds in a row.
Duration dispatch_delay(uint32_t times);

// The wait after so many interruptions in a row.
Duration interruption_delay(uint32_t times);

}  // namespace hodei::core
