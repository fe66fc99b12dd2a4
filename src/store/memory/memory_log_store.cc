#include "src/store/memory/memory_log_store.h"

#include "src/base/status.h"

namespace hodei::store {

WallTime MemoryLogStore::now() const { return clock_ != nullptr ? clock_->now().wall : SystemClock().now().wall; }

absl::Status MemoryLogStore::append(const std::vector<LogPiece>& pieces) {
  for (const LogPiece& piece : pieces) RETURN_IF_ERROR(check_piece(piece));
  const WallTime written = now();
  const std::lock_guard lock(mutex_);
  for (const LogPiece& piece : pieces) {
    const auto it = logs_.find(piece.execution);
    const std::optional<NewPart> part = new_part(piece, it == logs_.end() ? LogTail{} : it->second.tail);
    if (!part) continue;
    Log& log = logs_[piece.execution];
    log.pieces.push_back({.piece = to_piece(*part), .first_line = part->first_line, .written = written});
    log.tail = after(*part);
  }
  return absl::OkStatus();
}

absl::StatusOr<NumberedPiece> MemoryLogStore::read_numbered(ExecutionId execution, int64_t from,
                                                            size_t max_bytes) const {
  const std::lock_guard lock(mutex_);
  const auto it = logs_.find(execution);
  if (it == logs_.end()) return NumberedPiece{.piece = {.execution = execution, .offset = from}};
  for (const Stored& stored : it->second.pieces) {
    const bool is_bare_end = stored.piece.data.empty() && stored.piece.offset >= from;
    if (stored.end() <= from && !is_bare_end) continue;
    return cut_for_reader(stored.piece, stored.first_line, from, max_bytes);
  }
  const LogTail& tail = it->second.tail;
  return NumberedPiece{.piece = {.execution = execution, .offset = from, .end = tail.ended},
                       .first_line = tail.next_line};
}

absl::StatusOr<int64_t> MemoryLogStore::offset_of_line(ExecutionId execution, int64_t line) const {
  const std::lock_guard lock(mutex_);
  const auto it = logs_.find(execution);
  if (it == logs_.end()) return 0;
  for (const Stored& stored : it->second.pieces) {
    int64_t offset = stored.piece.offset;
    for (size_t i = 0; i < stored.piece.lines.size(); ++i) {
      if (stored.first_line + static_cast<int64_t>(i) >= line) return offset;
      offset += stored.piece.lines[i].length;
    }
  }
  return it->second.tail.next_offset;
}

LogExtent MemoryLogStore::extent(ExecutionId execution) const {
  const std::lock_guard lock(mutex_);
  const auto it = logs_.find(execution);
  if (it == logs_.end()) return {};
  const LogPiece& first = it->second.pieces.front().piece;
  return {.next_offset = it->second.tail.next_offset,
          .first_offset = first.offset - std::max<int64_t>(first.lost, 0),
          .entries = it->second.tail.next_line,
          .ended = it->second.tail.ended,
          .exists = true};
}

std::vector<uint32_t> MemoryLogStore::executions(JobId job) const {
  const std::lock_guard lock(mutex_);
  std::vector<uint32_t> out;
  for (auto it = logs_.lower_bound({job, 0}); it != logs_.end() && it->first.job == job; ++it) {
    out.push_back(it->first.number);
  }
  return out;
}

absl::StatusOr<int64_t> MemoryLogStore::clear(JobId job) {
  int64_t cleared = 0;
  for (const uint32_t number : executions(job)) {
    const LogExtent found = extent({job, number});
    cleared += found.next_offset - found.first_offset;
  }
  const std::lock_guard lock(mutex_);
  logs_.erase(logs_.lower_bound({job, 0}), logs_.upper_bound({job, UINT32_MAX}));
  return cleared;
}

std::map<ExecutionId, MemoryLogStore::Log>::iterator MemoryLogStore::oldest_log() {
  return std::min_element(logs_.begin(), logs_.end(), [](const auto& a, const auto& b) {
    return a.second.pieces.back().written < b.second.pieces.back().written;
  });
}

absl::StatusOr<int64_t> MemoryLogStore::expire(const LogRetention& retention, WallTime now) {
  const std::lock_guard lock(mutex_);
  const auto bytes_of = [](const Log& log) {
    int64_t sum = 0;
    for (const Stored& stored : log.pieces) sum += static_cast<int64_t>(stored.piece.data.size());
    return sum;
  };
  int64_t total = 0;
  for (const auto& [execution, log] : logs_) total += bytes_of(log);
  int64_t freed = 0;
  while (!logs_.empty()) {
    const auto oldest = oldest_log();
    const bool is_old = oldest->second.pieces.back().written < now - retention.max_age &&
                        (freed == 0 || freed + bytes_of(oldest->second) <= total / retention.share_by_age);
    if (!is_old && total - freed <= retention.max_bytes) break;
    freed += bytes_of(oldest->second);
    logs_.erase(oldest);
  }
  return freed;
}

}  // namespace hodei::store
