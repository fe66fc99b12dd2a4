// What jobs have reported and the server has not heard yet, and how much they may report. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "src/base/ids.h"
#include "src/base/time.h"
#include "src/worker/report_line.h"

namespace hodei::worker {

inline constexpr size_t kMaxOutputs = 64;             // keys of one execution
inline constexpr size_t kMaxOutputBytes = 64 << 10;   // its keys and values together
inline constexpr Duration kProgressInterval = 100ms;  // between two that the server hears of one execution

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

}  // namespace hodei::worker
