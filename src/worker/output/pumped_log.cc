#include "src/worker/output/pumped_log.h"

#include <algorithm>
#include <utility>

namespace hodei::worker {
namespace {

// An open line at its end is left in the ring for a while.
void fill_part(PumpedLog& log, LogPart& part, size_t limit, const LogPumpConfig& config, Now now) {
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
    const uint64_t reached = part.offset + part.data.size();
    if (chunk->offset > reached) {  // the next part says so, and an open line ends here
      at_hole = true;
      break;
    }
    if (chunk->offset + chunk->bytes.size() <= reached) {
      log.reader->next();
      continue;
    }
    const std::string_view unsent = chunk->bytes.substr(reached - chunk->offset);
    size_t most = limit - part.data.size();
    if (log.masker) most = std::min<uint64_t>(most, log.masker->safe() - std::min(reached, log.masker->safe()));
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
  if (final || at_hole || now.wall - cutter.open_since() >= config.hold_open || (full && part.lines.empty())) {
    return cutter.close_open(true);
  }
  cutter.drop_open();
  log.reader->seek(open_at);
  if (full) return;
  log.held_head = log.reader->head();
  log.hold_until = now.mono + config.hold_open;
}

}  // namespace

void PumpedLog::start_masking(std::shared_ptr<const Mask> mask, Duration break_wait) {
  if (mask == nullptr || ring == nullptr || masker) return;
  masker = std::make_unique<RingMasker>(ring, std::move(mask), break_wait);
  if (total) masker->ended(*total);
}

void PumpedLog::ended(uint64_t log_bytes) {
  total = log_bytes;
  if (masker) masker->ended(log_bytes);
  // Only what is durable is freed: an empty ring means that the server has everything.
  if (!reader || reader->all_freed()) acked = std::max(acked, log_bytes);
}

void PumpedLog::restart() {
  end_sent = false;
  next.reset();
  if (acked > 0) next = acked;
  if (reader) reader->rewind();
  last_sent = {INT64_MIN / 2};
}

bool PumpedLog::has_output() const {
  if (!reader || !reader->has_more()) return false;
  return !masker || !next || *next < masker->safe();
}

bool PumpedLog::has_work() const { return !discarding && !awaits_mask && (has_output() || (total && !end_sent)); }

size_t PumpedLog::mask_some(MonoTime now, size_t most, bool& more) {
  if (!masker || total || discarding) return 0;
  const uint64_t before = masker->seen();
  if (masker->look(now, most)) more = true;
  const bool is_stuck = ring->header().starved.load() == 1 && next && acked >= *next;
  if (is_stuck && *next >= masker->safe()) masker->give_way();
  return masker->seen() - before;
}

MonoTime PumpedLog::due(const LogPumpConfig& config) const {
  if (total && !end_sent) return {0};
  if (reader->head() == held_head) return hold_until;
  if (reader->unread() >= config.hurry_bytes || lines >= config.batch_lines) return {0};
  return std::max(unread_since + config.settle, last_sent + config.interval);
}

void PumpedLog::count_lines(const LogPumpConfig& config) {
  if (!reader || masker || reader->unread() >= config.hurry_bytes) return;
  if (counted <= reader->cursor()) {  // what was counted is sent
    counted = reader->cursor();
    lines = 0;
  }
  RingReader ahead = *reader;
  ahead.seek(counted);
  while (lines < config.batch_lines) {
    const auto chunk = ahead.peek();
    if (!chunk) break;
    lines += static_cast<uint32_t>(std::count(chunk->bytes.begin(), chunk->bytes.end(), '\n'));
    ahead.next();
    counted = ahead.cursor();
  }
}

std::optional<LogPart> PumpedLog::cut(ExecutionId execution, size_t limit, const LogPumpConfig& config, Now now) {
  LogPart part{.execution = execution};
  fill_part(*this, part, limit, config, now);
  const bool all_read = total && (!reader || !reader->has_more());
  // What was dropped behind the last byte is told in a part of its own.
  part.end = all_read && (part.data.empty() || part.offset + part.data.size() >= *total);
  if (part.data.empty() && !part.end) return std::nullopt;
  if (part.data.empty()) {
    part.offset = *total;
    part.lost = *total - std::min(next.value_or(*total), *total);
  }
  next = part.offset + part.data.size();
  end_sent = part.end;
  last_sent = now.mono;
  unread_since = has_output() ? now.mono : kNever;
  return part;
}

}  // namespace hodei::worker
