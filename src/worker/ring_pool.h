// The supervisor's rings: made when needed, reused afterwards, known to the agent by number so that each descriptor is
// handed over once.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "absl/status/statusor.h"
#include "src/worker/ring.h"

namespace hodei::worker {

class RingPool {
 public:
  explicit RingPool(size_t capacity) : capacity_(capacity) {}

  absl::StatusOr<uint64_t> take(size_t least = 0);  // bytes: for what is larger than a ring usually is
  void give_back(uint64_t ring);
  RingMemory* memory(uint64_t ring) { return &rings_.at(ring); }

  // True the first time for each agent: it must be given the descriptor.
  bool note_shared(uint64_t ring) { return shared_.insert(ring).second; }
  void new_agent() { shared_.clear(); }

 private:
  size_t capacity_;
  uint64_t next_ = 1;
  std::map<uint64_t, RingMemory> rings_;
  std::vector<uint64_t> free_;
  std::set<uint64_t> shared_;
};

}  // namespace hodei::worker
