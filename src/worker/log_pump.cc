#include "src/worker/log_pump.h"

#include <algorithm>

namespace hodei::worker {
namespace {

// How a server's window counts what is sent (Welcome.log_window).
constexpr size_t kPartCost = 64;
constexpr size_t kLineCost = 32;

}  // namespace

void LogPump::add(ExecutionId execution, RingMemory* ring, std::shared_ptr<const Mask> mask) {
  Log& log = logs_[execution];
  if (ring == nullptr || log.ring != nullptr) return;
  log.ring = ring;
  log.reader.emplace(ring);
  start_masking(log, std::move(mask));
}

void LogPump::start_masking(Log& log, std::shared_ptr<const Mask> mask) const {
  if (mask == nullptr || log.ring == nullptr || log.masker) return;
  log.masker = std::make_unique<RingMasker>(log.ring, std::move(mask), config_.break_wait);
  if (log.total) log.masker->ended(*log.total);
}

void LogPump::set_mask(ExecutionId execution, std::shared_ptr<const Mask> mask) {
  const auto it = logs_.find(execution);
  if (it == logs_.end()) return;
  it->second.awaits_mask = false;
  start_masking(it->second, std::move(mask));
}

void LogPump::ended(ExecutionId execution, uint64_t log_bytes) {
  Log& log = logs_[execution];
  log.total = log_bytes;
  if (log.masker) log.masker->ended(log_bytes);
  // Only what is durable is freed: an empty ring means that the server has everything.
  if (!log.reader || log.reader->all_freed()) log.acked = std::max(log.acked, log_bytes);
}

void LogPump::discard(ExecutionId execution) {
  Log& log = logs_[execution];
  log.discarding = true;
  drop_sent(log, UINT64_MAX);
  free_until(log, UINT64_MAX);
}

void LogPump::forget(ExecutionId execution) {
  const auto it = logs_.find(execution);
  if (it == logs_.end()) return;
  drop_sent(it->second, UINT64_MAX);
  logs_.erase(it);
}

void LogPump::restart(size_t window) {
  window_ = window;
  for (auto& [id, log] : logs_) {
    drop_sent(log, UINT64_MAX);
    log.end_sent = false;
    log.next.reset();
    if (log.acked > 0) log.next = log.acked;
    if (log.reader) log.reader->rewind();
    log.last_sent = {INT64_MIN / 2};
  }
}

void LogPump::resume_at(ExecutionId execution, uint64_t offset) {
  const auto it = logs_.find(execution);
  if (it == logs_.end()) return;
  it->second.next = offset;
  acked(execution, offset);
}

void LogPump::acked(ExecutionId execution, uint64_t offset) {
  const auto it = logs_.find(execution);
  if (it == logs_.end()) return;
  it->second.acked = std::max(it->second.acked, offset);
  drop_sent(it->second, offset);
  free_until(it->second, offset);
}

bool LogPump::all_acked(ExecutionId execution) const {
  const auto it = logs_.find(execution);
  return it != logs_.end() && it->second.end_sent && it->second.total && it->second.acked >= *it->second.total;
}

void LogPump::free_until(Log& log, uint64_t offset) {
  if (log.reader && log.reader->free_until(offset)) room_made_();
}

bool LogPump::has_output(const Log& log) {
  if (!log.reader || !log.reader->has_more()) return false;
  return !log.masker || !log.next || *log.next < log.masker->safe();
}

bool LogPump::has_work(const Log& log) const {
  return !log.discarding && !log.awaits_mask && (has_output(log) || (log.total && !log.end_sent));
}

// What needs no room there, the end of a log that has been sent, may always go.
bool LogPump::may_send(const Log& log) const {
  if (window_ == 0 || !has_output(log) || under_way_ < window_ / 2) return true;
  return log.sent.empty() && under_way_ < window_;
}

void LogPump::note_sent(Log& log, const LogPart& part) {
  const uint64_t end = part.offset + part.data.size();
  if (end == 0) return;  // an execution that printed nothing: the server is not told, and acknowledges nothing
  const size_t cost = kPartCost + part.data.size() + kLineCost * part.lines.size();
  log.sent.push_back({end, cost});
  under_way_ += cost;
}

void LogPump::drop_sent(Log& log, uint64_t end) {
  while (!log.sent.empty() && log.sent.front().end <= end) {
    under_way_ -= log.sent.front().cost;
    log.sent.pop_front();
  }
}

size_t LogPump::mask(Log& log, MonoTime now, size_t most) {
  if (!log.masker || log.total || log.discarding) return 0;
  const uint64_t before = log.masker->seen();
  if (log.masker->look(now, most)) more_to_mask_ = true;
  const bool is_stuck = log.ring->header().starved.load() == 1 && log.next && log.acked >= *log.next;
  if (is_stuck && *log.next >= log.masker->safe()) log.masker->give_way();
  return log.masker->seen() - before;
}

// In turn, beginning behind the one that was served last, so that nobody's flood keeps the loop for long.
void LogPump::mask_all(MonoTime now) {
  more_to_mask_ = false;
  size_t left = config_.mask_bytes;
  auto it = logs_.upper_bound(last_masked_);
  for (size_t n = logs_.size(); n > 0; --n, ++it) {
    if (it == logs_.end()) it = logs_.begin();
    const size_t done = mask(it->second, now, left);
    left -= std::min(left, done);
    if (done > 0) last_masked_ = it->first;
  }
}

MonoTime LogPump::due(const Log& log) const {
  if (log.total && !log.end_sent) return {0};
  if (log.reader->head() == log.held_head) return log.hold_until;
  if (log.reader->unread() >= config_.hurry_bytes || log.lines >= config_.batch_lines) return {0};
  return std::max(log.unread_since + config_.settle, log.last_sent + config_.interval);
}

void LogPump::set_batches(uint32_t lines, Duration interval) {
  config_.batch_lines = lines;
  config_.interval = interval;
}

// Only as far as it matters: a batch that is full is not counted on, and what is sent by its size never is.
void LogPump::count_lines(Log& log) const {
  if (!log.reader || log.masker || log.reader->unread() >= config_.hurry_bytes) return;
  if (log.counted <= log.reader->cursor()) {  // all that was counted has been sent
    log.counted = log.reader->cursor();
    log.lines = 0;
  }
  RingReader ahead = *log.reader;
  ahead.seek(log.counted);
  while (log.lines < config_.batch_lines) {
    const auto chunk = ahead.peek();
    if (!chunk) break;
    log.lines += static_cast<uint32_t>(std::count(chunk->bytes.begin(), chunk->bytes.end(), '\n'));
    ahead.next();
    log.counted = ahead.cursor();
  }
}

void LogPump::look(Now now) {
  mask_all(now.mono);
  for (auto& [id, log] : logs_) {
    if (log.discarding) {
      free_until(log, UINT64_MAX);
      continue;
    }
    count_lines(log);
    if (!has_work(log)) {
      log.unread_since = kNever;
    } else if (log.unread_since == kNever) {
      log.unread_since = now.mono;
    }
  }
}

MonoTime LogPump::next_due() const {
  MonoTime next = more_to_mask_ ? MonoTime{0} : kNever;
  for (const auto& [id, log] : logs_) {
    if (log.masker && !log.total) next = std::min(next, log.masker->lets_go_at());
    if (has_work(log) && log.unread_since != kNever && may_send(log)) next = std::min(next, due(log));
  }
  return next;
}

std::vector<LogPart> LogPump::take(Now now) {
  std::vector<LogPart> parts;
  size_t left = config_.message_bytes;
  // In turn, beginning behind the one served last, so that a flood does not starve the others.
  auto it = logs_.upper_bound(last_served_);
  const size_t enough = std::min(config_.message_bytes, LineCutter::kMaxLine);  // room for one line of any length
  for (size_t n = logs_.size(); n > 0 && left >= enough; --n, ++it) {
    if (it == logs_.end()) it = logs_.begin();
    auto& [id, log] = *it;
    if (!has_work(log) || now.mono < due(log) || !may_send(log)) continue;
    std::optional<LogPart> part = cut(id, log, left, now);
    if (!part) continue;
    note_sent(log, *part);
    last_served_ = id;
    left -= std::min(left, part->data.size());
    bytes_sent_ += part->data.size();
    parts.push_back(std::move(*part));
  }
  return parts;
}

void LogPump::fill(Log& log, LogPart& part, size_t limit, Now now) {
  LineCutter cutter(part);
  uint64_t open_at = 0;  // the record in which the open line begins
  bool begun = false;
  bool at_hole = false;
  while (log.reader && part.data.size() < limit) {
    const auto chunk = log.reader->peek();
    if (!chunk) break;
    if (!log.next) log.next = chunk->offset;
    if (chunk->offset + chunk->bytes.size() <= *log.next) {  // the server has it already
      log.reader->next();
      continue;
    }
    if (!std::exchange(begun, true)) {
      part.offset = std::max(*log.next, chunk->offset);
      part.lost = part.offset - *log.next;
    }
    const uint64_t sent = part.offset + part.data.size();
    if (chunk->offset > sent) {  // the next part says so, and an open line ends here
      at_hole = true;
      break;
    }
    if (chunk->offset + chunk->bytes.size() <= sent) {
      log.reader->next();
      continue;
    }
    const std::string_view unsent = chunk->bytes.substr(sent - chunk->offset);
    size_t most = limit - part.data.size();
    if (log.masker) most = std::min<uint64_t>(most, log.masker->safe() - std::min(sent, log.masker->safe()));
    if (most == 0) break;
    const std::string_view bytes = unsent.substr(0, most);
    cutter.add(bytes, chunk->stream, chunk->time);
    if (cutter.open_length() > 0 && cutter.open_length() <= bytes.size()) open_at = log.reader->cursor();
    if (bytes.size() < unsent.size()) break;
    log.reader->next();
  }
  if (cutter.open_length() == 0) return;
  const bool full = part.data.size() >= limit;
  const bool final = log.total && !log.reader->has_more();
  if (final || at_hole || now.wall - cutter.open_since() >= config_.hold_open || (full && part.lines.empty())) {
    return cutter.close_open(true);
  }
  cutter.drop_open();
  log.reader->seek(open_at);
  if (full) return;
  log.held_head = log.reader->head();
  log.hold_until = now.mono + config_.hold_open;
}

std::optional<LogPart> LogPump::cut(ExecutionId execution, Log& log, size_t limit, Now now) {
  LogPart part{.execution = execution};
  fill(log, part, limit, now);
  const bool all_read = log.total && (!log.reader || !log.reader->has_more());
  // What was dropped behind the last byte is told in a part of its own.
  part.end = all_read && (part.data.empty() || part.offset + part.data.size() >= *log.total);
  if (part.data.empty() && !part.end) return std::nullopt;
  if (part.data.empty()) {
    part.offset = *log.total;
    part.lost = *log.total - std::min(log.next.value_or(*log.total), *log.total);
  }
  log.next = part.offset + part.data.size();
  log.end_sent = part.end;
  log.last_sent = now.mono;
  log.unread_since = has_output(log) ? now.mono : kNever;
  return part;
}

}  // namespace hodei::worker
