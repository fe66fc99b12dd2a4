// Holds the reports of jobs that the server has not acknowledged yet, and limits how much a job may report. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "src/base/ids.h"
#include "src/base/time.h"
#include "src/worker/reports/report_line.h"

namespace hodei::worker {

inline constexpr size_t kMaxOutputs = 64;             // keys of one execution
inline constexpr size_t kMaxOutputBytes = 64 << 10;   // its keys and values together
inline constexpr Duration kProgressInterval = 100ms;  // between two reports of one execution to the server

// A key that is there already gets the new value.
absl::Status add_output(const OutputLine& output, std::map<std::string, std::string>& reported);

// The newest progress of each execution; what comes too fast replaces what was not sent.
class ProgressBoard {
 public:
  using IsRunning =
      std::function<bool(ExecutionId)>;  // the server refuses progress of what it does not know as started

  void note(ExecutionId execution, ProgressLine progress);
  MonoTime next_due(const IsRunning& is_running) const;
  std::vector<std::pair<ExecutionId, ProgressLine>> take_due(MonoTime now, const IsRunning& is_running);
  // At the end of an execution: what was not sent.
  std::optional<ProgressLine> take_last(ExecutionId execution);
  void send_again();  // the stream is a new one: what was sent may be lost
  void forget(ExecutionId execution) { entries_.erase(execution); }

 private:
  struct Entry {
    ProgressLine newest;
    bool sent = false;
    MonoTime due{0};
  };
  std::map<ExecutionId, Entry> entries_;
};

inline constexpr int64_t kReportsPerSecond = 1000;  // short lines of progress
inline constexpr int64_t kReportsAtOnce = 2000;
inline constexpr int64_t kOutputCost = 10;       // an output is written down for the next agent before it is answered
inline constexpr size_t kBytesPerReport = 1024;  // so many more cost as much as another line

// How fast one execution may report. A line costs by what it makes the worker do; when nothing is left, its connections
// are not read until there is something again, and the job waits in write().
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
