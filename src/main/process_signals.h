// The signals that end this process, taken one by one by the thread that waits for them.
#pragma once

#include "src/base/time.h"

namespace hodei {

class StopSignals {
 public:
  // Before any thread is started: threads inherit that these signals are not for them.
  StopSignals();

  // True when SIGTERM, SIGINT or SIGHUP came within that time.
  bool wait(Duration time);
};

}  // namespace hodei
