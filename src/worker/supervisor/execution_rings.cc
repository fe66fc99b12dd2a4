#include "src/worker/supervisor/execution_rings.h"

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

void ExecutionRings::adopt(ExecutionId execution, const std::vector<OutputRecord>& records) {
  const absl::StatusOr<uint64_t> ring = pool_.take(ring_bytes_for(records));
  if (!ring.ok()) return;  // it is lost, and its log says so
  refill(*pool_.memory(*ring), records);
  ring_of_[execution] = *ring;
}

void ExecutionRings::release(ExecutionId execution) {
  const auto it = ring_of_.find(execution);
  if (it == ring_of_.end()) return;
  pool_.give_back(it->second);
  ring_of_.erase(it);
}

uint64_t ExecutionRings::of(ExecutionId execution) const {
  const auto it = ring_of_.find(execution);
  return it == ring_of_.end() ? 0 : it->second;
}

RingMemory* ExecutionRings::memory_of(ExecutionId execution) {
  const uint64_t ring = of(execution);
  return ring == 0 ? nullptr : pool_.memory(ring);
}

}  // namespace hodei::worker
