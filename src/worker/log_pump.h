// Takes output from the rings to the stream: decides whose turn it is, cuts it into batches, remembers how far the
// server has it, and frees what is durable there. Plain values; the agent turns them into messages.
//
// It keeps to the server's window: at most so much output is under way. A server without room for output acknowledges
// none; then output waits in the rings, and heartbeats and results pass on the stream. One half of the window is for
// executions with nothing under way, so that those that print little can end while others flood.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "src/worker/core/execution.h"
#include "src/worker/line_cutter.h"
#include "src/worker/ring.h"
#include "src/worker/ring_masker.h"

namespace hodei::worker {

struct LogPumpConfig {
  size_t message_bytes = 256 << 10;  // most output in one message
  size_t hurry_bytes = 8 << 10;      // this much is sent without waiting
  uint32_t batch_lines = 100;        // and so many lines
  Duration interval = 100ms;         // otherwise at most this often per execution
  Duration settle = 2ms;             // and not before this: more is likely to follow
  Duration hold_open = 100ms;        // how long a line without its end is held back
  size_t mask_bytes = 1 << 20;       // so much of all output is masked at once; the rest when the loop comes by again
  Duration break_wait = RingMasker::kBreakWait;
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
  size_t under_way() const { return under_way_; }  // as the server's window counts it

 private:
  struct Sent {
    uint64_t end = 0;  // offset behind it
    size_t cost = 0;
  };
  struct Log {
    RingMemory* ring = nullptr;
    std::optional<RingReader> reader;
    std::unique_ptr<RingMasker> masker;  // null: everything may be sent as it is
    std::optional<uint64_t> next;        // offset of the next byte to send; none: wherever the ring begins
    uint64_t acked = 0;
    std::optional<uint64_t> total;  // known once it has ended
    bool end_sent = false;
    bool discarding = false;
    bool awaits_mask = false;
    MonoTime unread_since = kNever;
    MonoTime last_sent{INT64_MIN / 2};
    uint64_t counted = 0;    // a cursor of the reader: lines up to there are in `lines`
    uint32_t lines = 0;      // that are not sent; counted up to a batch
    uint64_t held_head = 0;  // with nothing but an open line up to here, wait until hold_until
    MonoTime hold_until{0};
    std::deque<Sent> sent;  // not acknowledged yet, in order
  };

  bool has_work(const Log& log) const;
  bool may_send(const Log& log) const;  // as far as the window goes
  void note_sent(Log& log, const LogPart& part);
  void drop_sent(Log& log, uint64_t end);  // what ends at or before `end`
  static bool has_output(const Log& log);  // that may be sent
  void start_masking(Log& log, std::shared_ptr<const Mask> mask) const;
  void mask_all(MonoTime now);                       // what has come since
  size_t mask(Log& log, MonoTime now, size_t most);  // how much of it
  void count_lines(Log& log) const;
  MonoTime due(const Log& log) const;
  // Fills `part` up to `limit` bytes; an open line at its end is left in the ring for a while.
  void fill(Log& log, LogPart& part, size_t limit, Now now);
  std::optional<LogPart> cut(ExecutionId execution, Log& log, size_t limit, Now now);
  void free_until(Log& log, uint64_t offset);

  LogPumpConfig config_;
  std::function<void()> room_made_;
  std::map<ExecutionId, Log> logs_;
  ExecutionId last_served_;  // the next message begins behind it
  ExecutionId last_masked_;  // likewise for masking
  bool more_to_mask_ = false;
  uint64_t bytes_sent_ = 0;
  size_t window_ = 0;  // 0: none
  size_t under_way_ = 0;
};

}  // namespace hodei::worker
