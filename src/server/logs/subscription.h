// One reader of a job's output: history, then live, without a gap or a duplicate. It is pulled, so a slow reader costs
// nothing: what it has not asked for yet stays in the store.
//
//   next() → Chunk    send it, then call next() again
//          → Wait     `ready` will be called, once; then call next() again
//          → Closed   the end; status() says why
#pragma once

#include "src/server/logs/live_logs.h"
#include "src/server/logs/log_start.h"

namespace hodei::server {

class Subscription final : public LogWaiter, public std::enable_shared_from_this<Subscription> {
 public:
  enum class Next { Chunk, Wait, Closed };

  Subscription(const SubscribeRequest& request, std::function<void()> ready, std::shared_ptr<LiveLogs> live,
               const store::NumberedLogStore& store, const LogHubLimits& limits);
  // Before the first next().
  void begin_at(const LogStart& start) { at_ = {.execution = start.execution, .offset = start.offset}; }
  ~Subscription() override;

  // One call at a time. May read from the disk; never waits for anybody.
  Next next(LogChunk& chunk);
  // OK after the last entry of a finished job; UNAVAILABLE when the server stops.
  const absl::Status& status() const { return status_; }

  // The hub calls it, on its own thread.
  void wake() override { ready_(); }

 private:
  // Where the reader is. Execution 0: before the first one.
  struct Cursor {
    uint32_t execution = 0;
    int64_t offset = 0;
    bool ended = false;  // its end marker was delivered, or will never come
  };

  Next deliver(store::NumberedPiece piece, LogChunk& chunk);
  Next deliver_gap(LogGap gap, int64_t next_offset, LogChunk& chunk);
  Next deliver_end(LogChunk& chunk);
  Next close(absl::Status status);
  // More of the reader's execution, from memory or the store; Wait: there is none now.
  Next more_of_this(const Glimpse& now, LogChunk& chunk);
  bool fell_behind(const Glimpse& now);
  // The number of the next execution that has output.
  std::optional<uint32_t> following(const Glimpse& now) const;
  // What to do when there is nothing more now; no answer: look again.
  std::optional<Next> at_the_end(const Glimpse& now, LogChunk& chunk);
  void go_to(uint32_t execution);

  const SubscribeRequest request_;
  const std::function<void()> ready_;
  const std::shared_ptr<LiveLogs> live_;
  const store::NumberedLogStore& store_;
  const LogHubLimits limits_;
  Cursor at_;
  std::optional<int64_t> allowed_lag_;  // nothing: not measured yet for this execution
  bool said_something_ = false;
  bool told_cleared_ = false;
  bool closed_ = false;
  absl::Status status_;
};

}  // namespace hodei::server
