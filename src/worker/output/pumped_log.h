// The output of one execution on its way from its ring to the stream: how far it was sent, how far the server has it,
// and when the next part is due. Plain values; the LogPump decides whose turn it is.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "src/worker/core/execution.h"
#include "src/worker/output/line_cutter.h"
#include "src/worker/output/ring.h"
#include "src/worker/output/ring_masker.h"

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

struct PumpedLog {
  struct Sent {
    uint64_t end = 0;  // offset behind it
    size_t cost = 0;   // as the server's window counts it
  };

  void start_masking(std::shared_ptr<const Mask> mask, Duration break_wait);
  void ended(uint64_t log_bytes);
  void restart();           // on a new stream: what the server does not have is sent again
  bool has_output() const;  // that may be sent
  bool has_work() const;
  bool is_durable() const { return end_sent && total && acked >= *total; }
  // Masks what has come since, up to about `most` bytes; how much that was. `more`: there is still more.
  size_t mask_some(MonoTime now, size_t most, bool& more);
  // Only as far as it matters: a batch that is full is not counted on, and what is sent by its size never is.
  void count_lines(const LogPumpConfig& config);
  MonoTime due(const LogPumpConfig& config) const;
  // The next part, of up to `limit` bytes; none: there is nothing to send yet.
  std::optional<LogPart> cut(ExecutionId execution, size_t limit, const LogPumpConfig& config, Now now);

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

}  // namespace hodei::worker
