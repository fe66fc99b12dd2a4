#include "src/server/logs/live_buffer.h"

namespace hodei::server {

void LiveBuffer::add(std::shared_ptr<const LivePiece> piece, size_t max_entries, size_t max_bytes) {
  cost_ += piece->cost();
  entries_ += piece->piece.lines.size();
  pieces_.push_back(std::move(piece));
  while (!pieces_.empty() && (cost_ > max_bytes || entries_ - pieces_.front()->piece.lines.size() >= max_entries)) {
    drop_oldest();
  }
}

std::shared_ptr<const LivePiece> LiveBuffer::find(ExecutionId execution, int64_t offset) const {
  // From the newest: those who follow are nearly always at the end.
  for (auto it = pieces_.rbegin(); it != pieces_.rend(); ++it) {
    if ((*it)->serves(execution, offset)) return *it;
    if ((*it)->piece.execution == execution && (*it)->begins <= offset) break;
  }
  return nullptr;
}

void LiveBuffer::drop_oldest() {
  cost_ -= pieces_.front()->cost();
  entries_ -= pieces_.front()->piece.lines.size();
  pieces_.pop_front();
}

void LiveBuffer::clear() {
  pieces_.clear();
  cost_ = entries_ = 0;
}

}  // namespace hodei::server
