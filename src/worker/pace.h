// Are there so many small jobs that it pays to deal with several at once? Counts what ends in windows of a few
// milliseconds, so that a lone job, or a few longer ones, never wait for company.
#pragma once

#include "src/base/time.h"

namespace hodei::worker {

class Pace {
 public:
  static constexpr Duration kWindow = 10ms;
  static constexpr int kMany = 10;   // in a window

  void note(MonoTime now) {
    roll(now);
    ++current_;
  }
  bool is_fast(MonoTime now) {
    roll(now);
    return current_ >= kMany || last_ >= kMany;
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
