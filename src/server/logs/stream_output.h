// Output of one worker's stream on its way into the hub. Heartbeats share the stream with it, so what finds no room
// waits here, in order, and the stream is read on; how much can come to wait is bounded by the window that the worker
// keeps. The owner guards it.
#pragma once

#include <memory>
#include <vector>

#include "src/server/logs/log_hub_core.h"

namespace hodei::server {

class StreamOutput {
 public:
  // Output that a worker may have under way, when there are few of them.
  static constexpr int64_t kMaxLogWindow = int64_t{8} << 20;

  // Output that waits here for room: beyond `max_kept`, a worker that keeps a window has not kept to it.
  explicit StreamOutput(LogHubCore& hub, size_t max_kept = 2 * kMaxLogWindow) : hub_(hub), max_kept_(max_kept) {}

  // By the worker's hello. One of an older version knows of no window.
  void set_window(bool has_window) { has_window_ = has_window; }

  // An error: the stream must be closed.
  absl::Status take(const std::shared_ptr<LogSource>& source, std::vector<store::LogPiece> pieces);
  // The hub says that there is room.
  absl::Status room(const std::shared_ptr<LogSource>& source);
  // False: from a worker that knows of no window, which is not read on for so long.
  bool may_read() const { return kept_bytes_ <= max_kept_; }

 private:
  absl::Status keep(std::vector<store::LogPiece> pieces);

  LogHubCore& hub_;
  const size_t max_kept_;
  bool has_window_ = false;
  std::vector<store::LogPiece> kept_;
  size_t kept_bytes_ = 0;
};

}  // namespace hodei::server
