// What Prometheus is told of this server. Counters and histograms grow as things happen (an atomic addition each, on
// the loop's thread); everything else is read when somebody asks. No label has more values than the code names, or than
// there are providers.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "src/core/commands.h"
#include "src/core/jobs/job.h"
#include "src/server/logs/log_hub.h"
#include "src/server/loop.h"
#include "src/server/provisioning/making_event.h"
#include "src/server/refused_claims.h"
#include "src/server/system_state.h"

namespace hodei::server {

// What the loop was asked for a scrape.
struct Snapshot {
  core::SystemReport system;
  core::QueueReport queue;
};

// Everything that is read when somebody asks.
struct Readings {
  Snapshot loop;
  LoopHealth health;
  LogHubStats logs;
  SystemState state{};
  uint64_t disk_free_bytes = 0;
  size_t worker_streams = 0;
  uint64_t samples_dropped = 0;  // of MetricsService
  uint64_t spans_exported = 0;
  uint64_t spans_dropped = 0;
  std::array<int64_t, kClaims> refused_claims{};
};

class ServerMetrics {
 public:
  ServerMetrics();
  ~ServerMetrics();

  // After the commit: transitions from `first` on are new; 0 counts the submission.
  void moved(const core::JobHead& job, size_t first);
  void execution_lost();
  void committed(Duration took, bool ok);
  void making(const MakingEvent& event);  // from any thread

  // The text format.
  std::string text(const Readings& readings);

 private:
  struct Series;
  void entered(const core::JobHead& job, size_t index, const core::Transition& t);
  void execution_ended(const core::Execution& execution);
  std::unique_ptr<Series> series_;
};

}  // namespace hodei::server
