#include "src/server/logs/log_writer.h"

#include <algorithm>

#include "src/base/journal.h"

namespace hodei::server {

void LogWriter::step() {
  const bool was_stuck = !takes_items();
  LogInbox::Wake wake = inbox_.take(!was_stuck, limits_.group_bytes);
  if (!was_stuck) {
    group_.items = std::move(wake.items);
    prepare(group_);
  }
  if (!group_.items.empty() && write(group_)) tell(std::exchange(group_, {}));
  if (wake.ticked) expire_if_due();
}

store::LogTail LogWriter::tail_of(ExecutionId execution) const {
  if (const std::optional<store::LogTail> live = live_->tail(execution)) return *live;
  const store::LogExtent extent = store_.extent(execution);
  return {.next_offset = extent.next_offset, .next_line = extent.entries, .ended = extent.ended};
}

// Cuts off what is known already, as the store will, so that the same bytes are published that are written.
void LogWriter::prepare(Group& group) {
  absl::flat_hash_map<ExecutionId, store::LogTail> tails;
  for (InboxItem& item : group.items) {
    store::LogPiece& piece = item.piece;
    const auto [it, is_new] = tails.try_emplace(piece.execution);
    store::LogTail& tail = it->second;
    if (is_new) tail = tail_of(piece.execution);
    if (item.source == nullptr) piece.offset = tail.next_offset;
    group.inbox_bytes += item.bytes;
    const int64_t piece_end = piece.offset + static_cast<int64_t>(piece.data.size());
    if (item.source != nullptr) group.acks.push_back({item.source, {piece.execution, piece_end}});
    if (tail.ended && item.source != nullptr && piece_end > tail.next_offset) ++counts_.after_end;
    const std::optional<store::NewPart> part = store::new_part(piece, tail);
    if (!part) continue;
    group.first_lines.push_back(part->first_line);
    group.begins.push_back(tail.next_offset);
    tail = store::after(*part);
    if (part->data.size() == piece.data.size()) {
      piece.lost = part->lost;
      group.pieces.push_back(std::move(piece));
    } else {
      group.pieces.push_back(store::to_piece(*part));
    }
  }
}

bool LogWriter::write(Group& group) {
  const absl::Status written = store_.append(group.pieces);
  note_stuck(written);
  if (!written.ok()) {
    ++counts_.failed;
    return false;
  }
  ++counts_.appends;
  counts_.pieces += static_cast<int64_t>(group.pieces.size());
  for (const store::LogPiece& piece : group.pieces) {
    counts_.lines += static_cast<int64_t>(piece.lines.size());
    counts_.bytes += static_cast<int64_t>(piece.data.size());
  }
  return true;
}

void LogWriter::note_stuck(const absl::Status& written) {
  if (is_stuck_.exchange(!written.ok()) == !written.ok()) return;
  if (written.ok()) {
    journal(Level::Info, "server", "job output is being written again");
  } else {
    journal(Level::Warn, "server",
            "job output cannot be written and is waiting at the workers: ", std::string(written.message()));
  }
}

void LogWriter::tell(Group group) {
  std::vector<std::shared_ptr<const LivePiece>> pieces;
  pieces.reserve(group.pieces.size());
  for (size_t i = 0; i < group.pieces.size(); ++i) {
    pieces.push_back(std::make_shared<LivePiece>(
        LivePiece{.piece = std::move(group.pieces[i]), .first_line = group.first_lines[i], .begins = group.begins[i]}));
  }
  const Waiters waiters = live_->publish(std::move(pieces));

  // One call per source, one position per execution.
  absl::flat_hash_map<LogSource*, absl::flat_hash_map<ExecutionId, int64_t>> positions;
  for (const auto& [source, ack] : group.acks) {
    int64_t& position = positions[source.get()][ack.execution];
    position = std::max(position, ack.durable_offset);
  }
  for (const auto& [source, of_source] : positions) {
    std::vector<LogAck> acks;
    for (const auto& [execution, offset] : of_source) acks.push_back({execution, offset});
    source->acknowledged(acks);
  }
  for (const std::shared_ptr<LogSource>& source : inbox_.release(group.inbox_bytes)) source->room();
  wake_all(waiters);
}

void LogWriter::expire_if_due() {
  const Now now = clock_.now();
  if (now.mono < next_expire_) return;
  next_expire_ = now.mono + limits_.expire_every;
  // A failure leaves old segments for the next time.
  store_.expire(limits_.retention, retention_.now().wall).status().IgnoreError();
}

void LogWriter::add_to(LogHubStats& stats) const {
  stats.inbox_bytes = inbox_.bytes();
  stats.appended_pieces = counts_.pieces;
  stats.appended_lines = counts_.lines;
  stats.appended_bytes = counts_.bytes;
  stats.appends = counts_.appends;
  stats.failed_appends = counts_.failed;
  stats.after_end = counts_.after_end;
  stats.is_stuck = is_stuck_;
}

}  // namespace hodei::server
