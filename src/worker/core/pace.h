// Decides whether so many small jobs end that it pays to handle several at once. It counts ends in windows of a few
// milliseconds. A single job, or a few longer ones, never wait for others.
#pragma once

#include <algorithm>
#include <cstddef>

#include "src/base/time.h"

namespace hodei::worker {

class Pace {
 public:
  static constexpr Duration kWindow = 10ms;
  static constexpr int kMany = 10;      // in a window
  static constexpr size_t kPlenty = 8;  // under way on a core

  void note(MonoTime now) {
    roll(now);
    ++current_;
  }
  // How long a report of an end may wait for others: `least`, or up to `most` if `cores` have enough work under way to
  // stay busy meanwhile. A worker without free slots gets new work only after it has reported what ended, so it waits
  // only in the second case.
  Duration gather_time(size_t under_way, size_t cores, bool has_free_slots, Duration least, Duration most,
                       MonoTime now) {
    roll(now);
    const int per_window = std::max(current_, last_);
    if (per_window < kMany) return Duration::zero();
    const Duration covered = kWindow * static_cast<int64_t>(under_way) / (2 * per_window);  // twice as long
    if (under_way >= kPlenty * cores && covered >= least) return std::min(covered, most);
    return has_free_slots ? least : Duration::zero();
  }

 private:
  void roll(MonoTime now) {
    const Duration since = now - began_;
    if (since < kWindow) return;
    last_ = since < 2 * kWindow ? current_ : 0;
    current_ = 0;
    began_ = now;
  }

  MonoTime began_{0};
  int current_ = 0;
  int last_ = 0;
};

}  // namespace hodei::worker
