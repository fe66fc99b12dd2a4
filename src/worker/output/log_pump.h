// Takes output from the rings to the stream: decides whose turn it is, cuts it into batches, remembers how far the
// server has it, and frees what is durable there. Plain values; the agent turns them into messages.
//
// It keeps to the server's window: at most so much output is under way. A server without room for output acknowledges
// none; then output waits in the rings, and heartbeats and results pass on the stream. One half of the window is for
// executions with nothing under way, so that those that print little can end while others flood.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "src/worker/core/execution.h"
#include "src/worker/output/line_cutter.h"
#include "src/worker/output/pumped_log.h"
#include "src/worker/output/ring.h"

namespace hodei::worker {

// How much output is under way, as the server counts it.
class LogWindow {
 public:
  // What needs no room there, the end of a log that has been sent, may always go.
  bool has_room_for(const PumpedLog& log) const;
  void restart(size_t window) { window_ = window; }  // 0: none
  void note_sent(PumpedLog& log, const LogPart& part);
  void drop_sent(PumpedLog& log, uint64_t end);  // what ends at or before `end`
  size_t under_way() const { return under_way_; }

 private:
  size_t window_ = 0;
  size_t under_way_ = 0;
};

// Masking in turn, beginning behind the one that was served last, so that nobody's flood keeps the loop for long.
class MaskTurns {
 public:
  void mask(std::map<ExecutionId, PumpedLog>& logs, MonoTime now, size_t most);
  bool has_more() const { return has_more_; }

 private:
  ExecutionId last_;
  bool has_more_ = false;
};

class LogPump {
 public:
  // `room_made` is called when the supervisor waits for room in a ring.
  LogPump(LogPumpConfig config, std::function<void()> room_made) : config_(config), room_made_(std::move(room_made)) {}

  // From now on: so many lines are sent at once, and fewer after this long.
  void set_batches(uint32_t lines, Duration interval);

  // `ring` null: it has no output. The memory outlives the log. `mask` null: there is nothing to mask.
  void add(ExecutionId execution, RingMemory* ring, std::shared_ptr<const Mask> mask = nullptr);
  // Its mask is being made: nothing of it is sent, not even its end, before set_mask().
  void await_mask(ExecutionId execution) { logs_[execution].awaits_mask = true; }
  void set_mask(ExecutionId execution, std::shared_ptr<const Mask> mask);
  void ended(ExecutionId execution, uint64_t log_bytes);
  void discard(ExecutionId execution);  // nobody wants it: free whatever comes
  void forget(ExecutionId execution);

  // A new stream: everything that the server does not have is sent again. `window` 0: the server knows of none.
  void restart(size_t window = 0);
  void resume_at(ExecutionId execution, uint64_t offset);  // the server has it up to there
  void acked(ExecutionId execution, uint64_t offset);
  bool all_acked(ExecutionId execution) const;  // its end was sent, and every byte of it is durable

  void look(Now now);  // new output may be there
  // What is due, for one message. A part with `end` is the last of its execution.
  std::vector<LogPart> take(Now now);
  MonoTime next_due() const;
  uint64_t bytes_sent() const { return bytes_sent_; }
  size_t under_way() const { return window_.under_way(); }

 private:
  void free_until(PumpedLog& log, uint64_t offset);

  LogPumpConfig config_;
  std::function<void()> room_made_;
  std::map<ExecutionId, PumpedLog> logs_;
  ExecutionId last_served_;  // the next message begins behind it
  MaskTurns masking_;
  LogWindow window_;
  uint64_t bytes_sent_ = 0;
};

}  // namespace hodei::worker
