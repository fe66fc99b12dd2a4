// The newest output of one job, in memory: most subscribers never need the disk. Pure; the owner guards it.
#pragma once

#include <deque>
#include <memory>

#include "src/store/segments/log_cut.h"

namespace hodei::server {

// A durable piece. Shared with the subscribers that are just sending it.
struct LivePiece {
  store::LogPiece piece;
  int64_t first_line = 0;
  int64_t begins = 0;  // where the log ended before it; less than piece.offset when there is a hole

  int64_t end() const { return piece.offset + static_cast<int64_t>(piece.data.size()); }
  // Whether a reader at `offset` of this execution needs this piece next.
  bool serves(ExecutionId execution, int64_t offset) const {
    if (piece.execution != execution || offset < begins) return false;
    return offset < end() || (piece.data.empty() && piece.end && offset == end());
  }
  // Its memory, about: the text, the lines, the bookkeeping.
  size_t cost() const { return piece.data.size() + piece.lines.size() * sizeof(store::LogLine) + 160; }
};

class LiveBuffer {
 public:
  // Keeps as many pieces as hold the last `max_entries` entries and fit into `max_bytes`.
  void add(std::shared_ptr<const LivePiece> piece, size_t max_entries, size_t max_bytes);
  // Null when it is not here any more, or not yet.
  std::shared_ptr<const LivePiece> find(ExecutionId execution, int64_t offset) const;
  void clear();
  size_t cost() const { return cost_; }

 private:
  void drop_oldest();

  std::deque<std::shared_ptr<const LivePiece>> pieces_;
  size_t cost_ = 0;
  size_t entries_ = 0;
};

}  // namespace hodei::server
