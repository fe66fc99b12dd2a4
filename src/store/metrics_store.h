// Stores samples of workers and jobs: how busy they were, and when. One port with one conformance suite.
//
// A single sample has little value. So a crash may lose the samples of the last few seconds, and nothing waits for a
// write.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "src/base/ids.h"
#include "src/base/time.h"

namespace hodei::store {

struct MetricSample {
  WallTime at;
  WorkerId worker;
  JobId job{};     // 0: the worker as a whole
  double cpu = 0;  // of a worker its load, 0 … 1; of a job the cores it used
  int64_t memory_bytes = 0;
  double network_rx = 0;  // bytes per second, as all below
  double network_tx = 0;
  double disk_read = 0;
  double disk_write = 0;

  bool operator==(const MetricSample&) const = default;
};

struct MetricQuery {
  WallTime from;                  // from here on …
  WallTime until;                 // … and before this
  std::vector<WorkerId> workers;  // empty: all
  JobId job{};                    // 0: samples of workers
};

// False: enough.
using SampleVisitor = std::function<bool(const MetricSample&)>;

class MetricsStore {
 public:
  virtual ~MetricsStore() = default;

  // All or none. One call at a time.
  virtual absl::Status append(const std::vector<MetricSample>& samples) = 0;
  // One call at a time, not beside append.
  virtual absl::Status forget_before(WallTime limit) = 0;

  // By worker, then by time. Beside append and beside itself.
  virtual absl::Status read(const MetricQuery& query, const SampleVisitor& visit) = 0;
};

}  // namespace hodei::store
