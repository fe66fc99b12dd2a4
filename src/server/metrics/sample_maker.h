// From what a worker tells with its heartbeats, which only ever grows, to rates between two of them.
#pragma once

#include <map>
#include <vector>

#include "src/base/ids.h"
#include "src/base/time.h"
#include "src/store/metrics_store.h"

namespace hodei::server {

// What a heartbeat tells, at the time it came.
struct Beat {
  struct Execution {
    ExecutionId id;
    int64_t cpu_ms = 0;
    int64_t memory_bytes = 0;
    int64_t read_bytes = 0;
    int64_t write_bytes = 0;

    bool operator==(const Execution&) const = default;
  };
  Now at;
  WorkerId worker;
  double cpu_load = 0;
  int64_t memory_bytes = 0;
  int64_t network_rx_bytes = 0;  // these four since the machine started
  int64_t network_tx_bytes = 0;
  int64_t disk_read_bytes = 0;
  int64_t disk_write_bytes = 0;
  std::vector<Execution> executions;
};

class SampleMaker {
 public:
  // A worker reads the usage of executions only now and then; a reading that stays the same for longer means rest.
  static constexpr Duration kSameReading = 40s;
  static constexpr Duration kForget = std::chrono::minutes(10);

  // One of the worker, and one of each execution whose reading is new.
  std::vector<store::MetricSample> make(const Beat& beat);
  // Forgets workers that have not been heard of for long.
  void forget_silent(MonoTime now);

 private:
  struct Reading {
    MonoTime at;
    Beat::Execution values;
  };
  struct Known {
    Beat last;
    std::map<ExecutionId, Reading> executions;
  };
  std::map<WorkerId, Known> known_;
};

}  // namespace hodei::server
