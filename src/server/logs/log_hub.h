// The way of all output through the server: from the workers' streams to the disk, back as acknowledgements, and on to
// those who watch. Logs never pass through the engine.
//
//   worker streams ── offer() ──▶ inbox ──▶ the hub's thread: all that waits is one append, one sync
//                                             ├─▶ LogSource::acknowledged()
//                                             └─▶ live buffers, waiting subscriptions
//
// What happens is in LogHubCore; here is the thread that it happens on.
#pragma once

#include <thread>

#include "src/server/logs/log_hub_core.h"

namespace hodei::server {

class LogHub final : public LogHubCore {
 public:
  using LogHubCore::LogHubCore;
  ~LogHub() { stop(); }

  void start();
  // Ends all subscriptions with UNAVAILABLE. What was not acknowledged is dropped: workers send it again.
  void stop();

 private:
  std::thread thread_;
};

}  // namespace hodei::server
