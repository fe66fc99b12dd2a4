#include "src/cli/job/log_cursor.h"

#include <algorithm>

namespace hodei::cli {

v1::SubscribeLogsRequest LogCursor::request() const {
  v1::SubscribeLogsRequest out;
  out.set_job_id(job_id_);
  out.set_execution(only_);
  if (inside_execution()) {
    out.set_execution(execution_);
    out.set_from_offset(offset_);
  } else if (!begun_) {
    out.set_tail(tail_);
    if (since_.is_set()) {
      out.mutable_since()->set_seconds(since_.us / 1'000'000);
      out.mutable_since()->set_nanos(static_cast<int32_t>(since_.us % 1'000'000 * 1000));
    }
  }
  return out;
}

void LogCursor::enter(int32_t execution) {
  if (execution <= execution_) return;
  execution_ = execution;
  offset_ = 0;
  ended_ = false;
}

bool LogCursor::skipped_ahead(const v1::LogChunk& chunk) {
  if (is_past(chunk.execution()) || !chunk.has_gap() || chunk.gap().reason() != "slow_subscriber") return false;
  enter(chunk.execution());
  return true;
}

void LogCursor::take(const v1::LogChunk& chunk, const Sink& sink,
                     const std::function<void(const v1::LogGap&)>& on_gap) {
  begun_ = true;
  if (is_past(chunk.execution())) return;
  enter(chunk.execution());
  if (chunk.has_gap()) on_gap(chunk.gap());
  for (const v1::LogEntry& entry : chunk.entries()) {
    std::string bytes = entry.line();
    if (!entry.partial()) bytes += '\n';
    const int64_t end = entry.offset() + static_cast<int64_t>(bytes.size());
    if (end <= offset_) continue;
    if (entry.offset() < offset_) bytes.erase(0, static_cast<size_t>(offset_ - entry.offset()));
    offset_ = end;
    sink({entry, std::move(bytes)});
  }
  offset_ = std::max(offset_, chunk.next_offset());
  if (chunk.end_of_execution()) ended_ = true;
}

}  // namespace hodei::cli
