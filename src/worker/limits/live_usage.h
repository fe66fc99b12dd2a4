// Measures what running executions use now: from their resource group if they have one, otherwise as the sum over their
// processes.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "src/base/ids.h"
#include "src/worker/limits/resource_group.h"

namespace hodei::worker {

// How to find what belongs to an execution.
struct RunningTree {
  ExecutionId execution;
  pid_t main = 0;
  std::string cgroup;                       // lists its processes; empty: the descendants of `main`
  std::shared_ptr<const UsageMeter> meter;  // may be null
};

struct LiveUsage {
  ExecutionId execution;
  int64_t cpu_ms = 0;
  int64_t memory_kb = 0;  // now
  int64_t io_read_bytes = 0;
  int64_t io_write_bytes = 0;

  bool operator==(const LiveUsage&) const = default;
};

// The most memory that one process of the tree has had so far, in KiB; 0: it is gone. Asked of the kernel's own record
// of each process, which begins anew with the program: what the supervisor took before is not in it.
int64_t peak_memory_kb(const RunningTree& tree);

// Slow: looks at every process of those that have no meter.
std::vector<LiveUsage> read_live_usage(const std::vector<RunningTree>& trees);

}  // namespace hodei::worker
