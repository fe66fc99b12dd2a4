// How fast one execution may report. A line costs by what it makes the worker do; when nothing is left, its connections
// are not read until there is something again, and the job waits in write(). Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "src/base/time.h"
#include "src/worker/report_line.h"

namespace hodei::worker {

inline constexpr int64_t kReportsPerSecond = 1000;  // short lines of progress
inline constexpr int64_t kReportsAtOnce = 2000;
inline constexpr int64_t kOutputCost = 10;       // an output is written down for the next agent before it is answered
inline constexpr size_t kBytesPerReport = 1024;  // so many more cost as much as another line

class ReportBudget {
 public:
  bool is_spent(MonoTime now) {
    refill(now);
    return credit_ <= 0;
  }
  // May go below nothing: who sends one large line waits longer afterwards.
  void spend(size_t line_bytes, bool is_output) {
    credit_ -= ((is_output ? kOutputCost : 1) + static_cast<int64_t>(line_bytes / kBytesPerReport)) * kSecond;
  }
  MonoTime ready_at() const { return refilled_ + Duration(credit_ > 0 ? 0 : -credit_ / kReportsPerSecond + 1); }

 private:
  static constexpr int64_t kSecond = 1'000'000;  // credit is lines times microseconds: nothing is lost in rounding

  void refill(MonoTime now) {
    const int64_t elapsed = std::clamp<int64_t>((now - refilled_).count(), 0, 3600 * kSecond);
    credit_ = std::min(kReportsAtOnce * kSecond, credit_ + elapsed * kReportsPerSecond);
    refilled_ = std::max(refilled_, now);
  }

  int64_t credit_ = kReportsAtOnce * kSecond;
  MonoTime refilled_{0};
};

}  // namespace hodei::worker
