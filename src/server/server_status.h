// How a server is: its state, the health of each service, and its metrics. From any thread but the loop's.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "src/base/time.h"
#include "src/server/connections.h"
#include "src/server/disk_room.h"
#include "src/server/logs/log_hub.h"
#include "src/server/loop.h"
#include "src/server/service_health.h"
#include "src/server/system_state.h"
#include "src/server/telemetry.h"

namespace hodei::server {

class ServerStatus {
 public:
  // What it looks at, which outlives it.
  struct Parts {
    Loop& loop;
    LogHub& logs;
    Connections& connections;
    Telemetry& telemetry;
    const DiskRoom& room;
  };
  explicit ServerStatus(const Parts& parts) : parts_(parts) {}

  void note_start(WallTime now) { started_ = now; }
  WallTime started() const { return started_; }
  // False: the server is stopping already.
  bool note_stop() { return !stopping_.exchange(true); }

  // `report` is the engine's.
  SystemAssessment assess(const core::SystemReport& report);
  std::vector<ServiceHealth> services();
  // For Prometheus.
  std::string metrics_text(const Snapshot& snapshot);

 private:
  const Parts parts_;
  WallTime started_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace hodei::server
