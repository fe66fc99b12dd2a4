// The two uses of real time that a Clock cannot replace: deadlines of gRPC, and sleeping. No other file reads the
// system clock or sleeps.
#pragma once

#include <chrono>
#include <thread>

#include "src/base/time.h"

namespace hodei {

// gRPC takes deadlines only as points of this clock.
inline std::chrono::system_clock::time_point deadline_in(Duration time) {
  return std::chrono::system_clock::now() + time;
}

// Between two looks at something that gives no sign, such as the end of a process that is not our child, or to gather
// work that is cheaper together. Never in tests, never to wait for something that gives a sign.
inline void pause_for(Duration time) { std::this_thread::sleep_for(time); }

}  // namespace hodei
