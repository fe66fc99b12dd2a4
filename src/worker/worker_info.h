// What the agent says about itself when it registers, and how busy the machine is.
#pragma once

#include "hodei/v1/worker_service.pb.h"
#include "src/worker/worker.h"

namespace hodei::worker {

// Options plus what the machine says: host name, address, system, cpus, memory, disk.
v1::WorkerInfo worker_info(const WorkerOptions& options);

// How many executions it holds at once.
uint32_t slots_of(const WorkerOptions& options);

struct MachineLoad {
  double cpu = 0;  // 0 … 1
  int64_t memory_used_mb = 0;
  int64_t network_rx_bytes = 0;  // since the machine started, loopback not counted
  int64_t network_tx_bytes = 0;
  int64_t disk_read_bytes = 0;  // of whole disks, since the machine started
  int64_t disk_write_bytes = 0;
};

// Keeps the last reading: the load is of the time since then.
class LoadMeter {
 public:
  MachineLoad read();

 private:
  uint64_t busy_ = 0;
  uint64_t total_ = 0;
};

}  // namespace hodei::worker
