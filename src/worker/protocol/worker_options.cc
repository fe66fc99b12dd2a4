#include "src/worker/protocol/worker_options.h"

#include <algorithm>
#include <thread>

namespace hodei::worker {

uint32_t slots_of(const WorkerOptions& options) {
  return options.slots > 0 ? options.slots : std::max(4u, std::thread::hardware_concurrency() * 4);
}

}  // namespace hodei::worker
