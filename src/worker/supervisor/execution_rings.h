// The rings of the supervisor, and the execution that each of them belongs to, from the start of the execution until
// its release.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "absl/status/statusor.h"
#include "src/worker/core/execution.h"
#include "src/worker/output/ring.h"
#include "src/worker/supervisor/last_output.h"

namespace hodei::worker {

// Rings are made when needed, reused afterwards, and known to the agent by number, so that each descriptor is handed
// over once.
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

class ExecutionRings {
 public:
  explicit ExecutionRings(size_t ring_bytes) : pool_(ring_bytes) {}

  RingPool& pool() { return pool_; }
  void assign(ExecutionId execution, uint64_t ring) { ring_of_[execution] = ring; }
  // What an execution of an earlier start printed, and no server has yet.
  void adopt(ExecutionId execution, const std::vector<OutputRecord>& records);
  void release(ExecutionId execution);

  uint64_t of(ExecutionId execution) const;      // 0: it has none
  RingMemory* memory_of(ExecutionId execution);  // null: it has none

 private:
  RingPool pool_;
  std::map<ExecutionId, uint64_t> ring_of_;
};

}  // namespace hodei::worker
