#include "src/worker/output/log_pump.h"

#include <algorithm>
#include <optional>

namespace hodei::worker {
namespace {

// How a server's window counts what is sent (Welcome.log_window).
constexpr size_t kPartCost = 64;
constexpr size_t kLineCost = 32;

}  // namespace

bool LogWindow::has_room_for(const PumpedLog& log) const {
  if (window_ == 0 || !log.has_output() || under_way_ < window_ / 2) return true;
  return log.sent.empty() && under_way_ < window_;
}

void LogWindow::note_sent(PumpedLog& log, const LogPart& part) {
  const uint64_t end = part.offset + part.data.size();
  if (end == 0) return;  // an execution that printed nothing: the server is not told, and acknowledges nothing
  const size_t cost = kPartCost + part.data.size() + kLineCost * part.lines.size();
  log.sent.push_back({end, cost});
  under_way_ += cost;
}

void LogWindow::drop_sent(PumpedLog& log, uint64_t end) {
  while (!log.sent.empty() && log.sent.front().end <= end) {
    under_way_ -= log.sent.front().cost;
    log.sent.pop_front();
  }
}

void MaskTurns::mask(std::map<ExecutionId, PumpedLog>& logs, MonoTime now, size_t most) {
  has_more_ = false;
  size_t left = most;
  auto it = logs.upper_bound(last_);
  for (size_t n = logs.size(); n > 0; --n, ++it) {
    if (it == logs.end()) it = logs.begin();
    const size_t done = it->second.mask_some(now, left, has_more_);
    left -= std::min(left, done);
    if (done > 0) last_ = it->first;
  }
}

void LogPump::set_batches(uint32_t lines, Duration interval) {
  config_.batch_lines = lines;
  config_.interval = interval;
}

void LogPump::add(ExecutionId execution, RingMemory* ring, std::shared_ptr<const Mask> mask) {
  PumpedLog& log = logs_[execution];
  if (ring == nullptr || log.ring != nullptr) return;
  log.ring = ring;
  log.reader.emplace(ring);
  log.start_masking(std::move(mask), config_.break_wait);
}

void LogPump::set_mask(ExecutionId execution, std::shared_ptr<const Mask> mask) {
  const auto it = logs_.find(execution);
  if (it == logs_.end()) return;
  it->second.awaits_mask = false;
  it->second.start_masking(std::move(mask), config_.break_wait);
}

void LogPump::ended(ExecutionId execution, uint64_t log_bytes) { logs_[execution].ended(log_bytes); }

void LogPump::discard(ExecutionId execution) {
  PumpedLog& log = logs_[execution];
  log.discarding = true;
  window_.drop_sent(log, UINT64_MAX);
  free_until(log, UINT64_MAX);
}

void LogPump::forget(ExecutionId execution) {
  const auto it = logs_.find(execution);
  if (it == logs_.end()) return;
  window_.drop_sent(it->second, UINT64_MAX);
  logs_.erase(it);
}

void LogPump::restart(size_t window) {
  window_.restart(window);
  for (auto& [id, log] : logs_) {
    window_.drop_sent(log, UINT64_MAX);
    log.restart();
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
  window_.drop_sent(it->second, offset);
  free_until(it->second, offset);
}

bool LogPump::all_acked(ExecutionId execution) const {
  const auto it = logs_.find(execution);
  return it != logs_.end() && it->second.is_durable();
}

void LogPump::free_until(PumpedLog& log, uint64_t offset) {
  if (log.reader && log.reader->free_until(offset)) room_made_();
}

void LogPump::look(Now now) {
  masking_.mask(logs_, now.mono, config_.mask_bytes);
  for (auto& [id, log] : logs_) {
    if (log.discarding) {
      free_until(log, UINT64_MAX);
      continue;
    }
    log.count_lines(config_);
    if (!log.has_work()) {
      log.unread_since = kNever;
    } else if (log.unread_since == kNever) {
      log.unread_since = now.mono;
    }
  }
}

MonoTime LogPump::next_due() const {
  MonoTime next = masking_.has_more() ? MonoTime{0} : kNever;
  for (const auto& [id, log] : logs_) {
    if (log.masker && !log.total) next = std::min(next, log.masker->lets_go_at());
    if (!log.has_work() || log.unread_since == kNever || !window_.has_room_for(log)) continue;
    next = std::min(next, log.due(config_));
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
    if (!log.has_work() || now.mono < log.due(config_) || !window_.has_room_for(log)) continue;
    std::optional<LogPart> part = log.cut(id, left, config_, now);
    if (!part) continue;
    window_.note_sent(log, *part);
    last_served_ = id;
    left -= std::min(left, part->data.size());
    bytes_sent_ += part->data.size();
    parts.push_back(std::move(*part));
  }
  return parts;
}

}  // namespace hodei::worker
