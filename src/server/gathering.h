// Decides whether the loop waits for more commands before it takes a turn. A turn commits, and a commit of one command
// costs nearly as much as one of fifty. So when turns have many commands each, they are spaced a little apart. A single
// command, or a few clients that wait for their answers, never wait here.
#pragma once

#include <cstddef>

#include "src/base/time.h"

namespace hodei::server {

class Gathering {
 public:
  static constexpr Duration kApart = 800us;  // from the beginning of a turn to that of the next
  static constexpr double kMany = 8;         // commands in a turn, on average

  // How long the next turn should wait.
  Duration wait(MonoTime now) const {
    const Duration left = last_ + kApart - now;
    return average_ >= kMany && left > Duration(0) ? left : Duration(0);
  }
  void turned(MonoTime began, size_t commands) {
    last_ = began;
    average_ += (static_cast<double>(commands) - average_) / kTurns;
  }

 private:
  static constexpr double kTurns = 8;  // that the average looks back
  MonoTime last_{0};
  double average_ = 0;
};

}  // namespace hodei::server
