// The output of one pretended process on its way into its ring: what finds no room waits in the pipe, and the process
// with it; what its supervisor may not keep is counted and passed over.
#pragma once

#include <deque>
#include <string>

#include "src/worker/output/ring.h"
#include "src/worker/supervisor/last_output.h"
#include "tests/sim/outputs.h"
#include "tests/sim/world.h"

namespace hodei::sim {

class OutputPipe {
 public:
  // The smallest that there is: some jobs print more.
  static constexpr size_t kRing = 4096;

  OutputPipe(World& world, Outputs& outputs, ExecutionId execution, size_t ring_bytes = kRing);

  worker::RingMemory* ring() { return &ring_; }
  void print(std::string bytes);
  void leave_out(const std::string& bytes);  // the job prints more than it may
  void room_was_made();
  // Everything that was printed is in the ring.
  bool is_drained() const { return waiting_.empty(); }
  void give_up();  // nobody will ever read the ring: what waits is counted as dropped
  int64_t log_bytes() const { return static_cast<int64_t>(writer_.log_bytes()); }
  void refill(const std::vector<worker::OutputRecord>& records) { worker::refill(ring_, records); }

 private:
  World& world_;
  Outputs& outputs_;
  const ExecutionId execution_;
  worker::RingMemory ring_;
  worker::RingWriter writer_;
  std::deque<std::string> waiting_;
};

}  // namespace hodei::sim
