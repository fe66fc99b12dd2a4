#include "src/worker/ring_pool.h"

#include <algorithm>

#include "src/base/status.h"

namespace hodei::worker {

absl::StatusOr<uint64_t> RingPool::take(size_t least) {
  if (!free_.empty() && least <= capacity_) {
    const uint64_t ring = free_.back();
    free_.pop_back();
    return ring;
  }
  ASSIGN_OR_RETURN(RingMemory memory, RingMemory::create(std::max(capacity_, least)));
  const uint64_t ring = next_++;
  rings_.emplace(ring, std::move(memory));
  return ring;
}

void RingPool::give_back(uint64_t ring) {
  rings_.at(ring).recycle();
  free_.push_back(ring);  // last in, first out: its pages are warm
}

}  // namespace hodei::worker
