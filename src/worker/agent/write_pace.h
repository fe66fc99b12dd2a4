// Decides when the next message is sent to the server. While many small jobs end, the worker reports them in messages a
// few milliseconds apart, because one message for each would cost as much as starting a process.
#pragma once

#include <algorithm>
#include <thread>

#include "src/base/time.h"
#include "src/worker/core/pace.h"
#include "src/worker/core/session.h"

namespace hodei::worker {

class WritePace {
 public:
  static constexpr Duration kLeastGather = 4ms;
  static constexpr Duration kMostGather = 6ms;

  explicit WritePace(size_t slots) : slots_(slots) {}
  void note_end(MonoTime now) { ends_.note(now); }  // of an execution
  void wrote(MonoTime now) { last_write_ = now; }
  MonoTime may_write_at(const Session& session, MonoTime now) {
    const bool has_free_slots = session.held_count() < slots_;
    return last_write_ +
           ends_.gather_time(session.unfinished_count(), cores_, has_free_slots, kLeastGather, kMostGather, now);
  }

 private:
  const size_t slots_;
  const size_t cores_ = std::max(1u, std::thread::hardware_concurrency());
  Pace ends_;
  MonoTime last_write_{0};
};

}  // namespace hodei::worker
