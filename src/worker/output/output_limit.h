// Limits how much output of a job is kept: the total size, and the rate. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/base/time.h"
#include "src/worker/core/program.h"

namespace hodei::worker {

class OutputLimit {
 public:
  // The bucket of a rate is full at first and holds what one second brings.
  OutputLimit(const OutputRules& rules, MonoTime start);

  enum class Do : uint8_t { Keep, Discard, Wait };
  struct Step {
    Do what = Do::Keep;
    size_t most = SIZE_MAX;   // Keep: so many bytes
    MonoTime until = kNever;  // Wait: then ask again
  };
  Step next(MonoTime now);
  void kept(size_t bytes);
  // The job has ended: what is left is at most a pipe full and not worth a wait.
  void ignore_rate() { rules_.max_bytes_per_second = 0; }

 private:
  void refill(MonoTime now);

  OutputRules rules_;
  int64_t kept_ = 0;
  int64_t credit_;  // bytes times microseconds, so that nothing is lost in rounding
  MonoTime refilled_;
  bool resting_ = false;  // the bucket was empty: wait for a portion, not for every byte
};

}  // namespace hodei::worker
