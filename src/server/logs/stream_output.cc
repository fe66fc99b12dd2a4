#include "src/server/logs/stream_output.h"

#include <utility>

#include "src/base/status.h"

namespace hodei::server {
namespace {

// As the worker counts it.
size_t window_bytes(const store::LogPiece& piece) { return 64 + piece.data.size() + 32 * piece.lines.size(); }

}  // namespace

absl::Status StreamOutput::take(const std::shared_ptr<LogSource>& source, std::vector<store::LogPiece> pieces) {
  if (pieces.empty()) return absl::OkStatus();
  if (!kept_.empty()) return keep(std::move(pieces));  // behind those that wait
  ASSIGN_OR_RETURN(const bool taken, hub_.offer(source, pieces));
  return taken ? absl::OkStatus() : keep(std::move(pieces));
}

absl::Status StreamOutput::room(const std::shared_ptr<LogSource>& source) {
  kept_bytes_ = 0;
  return take(source, std::exchange(kept_, {}));
}

absl::Status StreamOutput::keep(std::vector<store::LogPiece> pieces) {
  for (store::LogPiece& piece : pieces) {
    kept_bytes_ += window_bytes(piece);
    kept_.push_back(std::move(piece));
  }
  if (kept_bytes_ <= max_kept_ || !has_window_) return absl::OkStatus();
  return absl::ResourceExhaustedError("more output is in flight than the worker's log_window allows");
}

}  // namespace hodei::server
