// The pipes of all executions: what was read from them, when those that wait for their rate are read again, and how
// many lines were dropped.
#pragma once

#include <algorithm>
#include <utility>

#include "src/worker/supervisor/running_table.h"

namespace hodei::worker {

class OutputPipes {
 public:
  // After each read: `news` says whether something came into a ring.
  void note_read(const Running& running, bool news) {
    has_news_ = has_news_ || news;
    next_resume_ = std::min(next_resume_, running.output->waits_until());
  }
  bool take_news() { return std::exchange(has_news_, false); }
  // Those that waited for the rate of their job.
  void resume(const RunningTable& table, Now now) {
    if (now.mono < next_resume_) return;
    next_resume_ = kNever;
    for (const auto& [id, running] : table) {
      if (running->output != nullptr) note_read(*running, running->output->go_on(now));
    }
  }
  MonoTime next_resume() const { return next_resume_; }

  // What its pipes have come to, when all is read.
  void count(Running& running) {
    const OutputReader& output = *running.output;
    running.usage.log_bytes = static_cast<int64_t>(output.written());
    running.usage.facts.dropped_bytes = static_cast<int64_t>(output.dropped_bytes());
    running.usage.facts.dropped_lines = static_cast<int64_t>(output.dropped_lines());
    dropped_before_ += output.dropped_lines();
  }
  // Of all executions so far.
  uint64_t dropped_lines(const RunningTable& table) const {
    uint64_t lines = dropped_before_;
    for (const auto& [id, running] : table) lines += running->output == nullptr ? 0 : running->output->dropped_lines();
    return lines;
  }

 private:
  bool has_news_ = false;
  MonoTime next_resume_ = kNever;
  uint64_t dropped_before_ = 0;  // lines, of executions that have ended
};

}  // namespace hodei::worker
