// Collects what the agent reports about its worker: at registration, its fitness for work, and the load of the machine.
#pragma once

#include <cstdint>
#include <string>

#include "hodei/v1/worker_service.pb.h"
#include "src/worker/protocol/worker_options.h"

namespace hodei::worker {

// Options plus what the machine says: host name, address, system, cpus, memory, disk.
v1::WorkerInfo worker_info(const WorkerOptions& options);

// Below this, neither working folders nor results have a place.
inline constexpr int64_t kLeastFreeDisk = int64_t{16} << 20;

// A file of this name in the state folder, written by whoever watches over the machine, takes the worker out of service
// as long as it is there; its first line is the reason.
inline constexpr const char* kUnfitFile = "unfit";

// Whether this worker can take work, as it says of itself in its heartbeats: "ok", or what is wrong. What cannot work
// should say so before jobs fail on it one after the other.
std::string status_of(const std::string& state_dir);

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
