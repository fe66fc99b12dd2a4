// Pieces from all workers on their way to the disk. Bounded in bytes: a source that finds no room keeps its pieces and
// is called when there is some. The only thing that worker streams and the hub's thread share.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include "src/server/logs/log_types.h"

namespace hodei::server {

// A piece from a worker or, without a source, the order to end an execution's log where it is.
struct InboxItem {
  std::shared_ptr<LogSource> source;
  store::LogPiece piece;
  size_t bytes = 0;
};

class LogInbox {
 public:
  explicit LogInbox(size_t max_bytes) : max_bytes_(max_bytes) {}

  // All or nothing. False: full; the pieces stay with the caller, and source->room() follows once.
  bool offer(const std::shared_ptr<LogSource>& source, std::vector<store::LogPiece>& pieces);
  // Tiny, and needed to let go of other things: always taken.
  void end_log(ExecutionId execution);
  void tick();
  void stop();

  // Waits for items (unless told that none are wanted), a tick, or the stop. False: it was stopped.
  bool wait(bool for_items);

  struct Wake {
    bool ticked = false;
    std::vector<InboxItem> items;  // about `max_bytes` of them
  };
  // What has come since, without waiting.
  Wake take(bool take_items, size_t max_bytes);
  // What was taken is durable now; returns the sources to be told that there is room.
  std::vector<std::shared_ptr<LogSource>> release(size_t bytes);

  size_t bytes() const;
  bool has_items() const;

 private:
  struct HeldBack {
    std::shared_ptr<LogSource> source;
    size_t bytes = 0;
  };
  const size_t max_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<InboxItem> items_;
  size_t bytes_ = 0;  // also of what was taken and is not durable yet
  std::deque<HeldBack> held_back_;
  bool ticked_ = false;
  bool stopping_ = false;
};

}  // namespace hodei::server
