// May a job run again, and when.
#pragma once

#include "src/core/job/job.h"

namespace hodei::core {

// A job whose executions are lost before they start again and again is not placed forever.
inline constexpr uint32_t kMaxLostDispatches = 20;

inline bool may_retry(const JobHead& job) {
  return job.allow_retry && !job.cancel_requested && job.attempts < job.max_attempts;
}

// The wait before the attempt after `attempts`: exponential, bounded, less up to half by jitter. The jitter comes from
// the job and the attempt, so the same decision is made on every replay.
Duration backoff_delay(const JobHead& job);

}  // namespace hodei::core
