// How long the loop was held up, by a long turn or because it was not let run. Nobody's silence counts for that time.
#pragma once

#include <algorithm>

#include "src/base/time.h"

namespace hodei::server {

class StallMeter {
 public:
  static constexpr Duration kStall = 1s;  // less than that is none

  // At the beginning of a turn: the stall before it, or 0.
  Duration stall(MonoTime now) const {
    Duration stall = last_turn_ > kStall ? last_turn_ : Duration(0);
    if (expected_ != kNever && now - expected_ > kStall) stall += now - expected_;
    return stall;
  }
  // At its end, with the time at which the next one is due.
  void turned(MonoTime began, MonoTime ended, MonoTime next) {
    last_turn_ = ended - began;
    expected_ = std::max(next, ended);  // a long turn is counted by its length alone
  }
  void start_over() { *this = {}; }

 private:
  MonoTime expected_ = kNever;  // when the next turn was due
  Duration last_turn_{0};
};

}  // namespace hodei::server
