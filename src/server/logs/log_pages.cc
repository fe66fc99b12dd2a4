// LogHubCore::get_logs: a page of entries, counted over one execution or all of them.
#include <algorithm>

#include "src/base/status.h"
#include "src/server/logs/log_hub_core.h"

namespace hodei::server {
namespace {

constexpr int64_t kDefaultEntries = 1000;

// What still fits on the page.
struct Room {
  int64_t entries = 0;
  int64_t bytes = 0;
  bool is_full() const { return entries <= 0 || bytes <= 0; }
};

void keep_first_lines(LogChunk& chunk, int64_t count) {
  if (static_cast<int64_t>(chunk.lines.size()) <= count) return;
  size_t bytes = 0;
  for (int64_t i = 0; i < count; ++i) bytes += chunk.lines[static_cast<size_t>(i)].length;
  chunk.lines.resize(static_cast<size_t>(count));
  chunk.data.resize(bytes);
  chunk.next_offset = chunk.offset + static_cast<int64_t>(bytes);
  chunk.end_of_execution = false;
}

// Adds entries from `offset` on until the page is full (true) or there are no more.
absl::StatusOr<bool> add_entries(const store::NumberedLogStore& store, ExecutionId execution, int64_t offset,
                                 Room& room, LogPage& page) {
  for (;;) {
    if (room.is_full()) return store.extent(execution).next_offset > offset;
    ASSIGN_OR_RETURN(store::NumberedPiece piece,
                     store.read_numbered(execution, offset, static_cast<size_t>(room.bytes)));
    const bool is_end = piece.piece.end;
    if (piece.piece.data.empty() && piece.piece.lost == 0) return false;
    LogChunk chunk = to_chunk(std::move(piece), offset);
    keep_first_lines(chunk, room.entries);
    room.entries -= static_cast<int64_t>(chunk.lines.size());
    room.bytes -= static_cast<int64_t>(chunk.data.size());
    offset = chunk.next_offset;
    page.chunks.push_back(std::move(chunk));
    if (is_end && page.chunks.back().end_of_execution) return false;
  }
}

// Its log has an end marker, or all that its worker says it printed.
bool has_ended(const store::LogExtent& extent, uint32_t execution, const JobEnd& end) {
  const auto said =
      std::find_if(end.printed.begin(), end.printed.end(), [&](const Printed& p) { return p.execution == execution; });
  return extent.ended || (said != end.printed.end() && extent.next_offset >= said->bytes);
}

// Those that printed something of which nothing is left.
std::vector<Printed> expired_executions(const store::NumberedLogStore& store, const GetLogsRequest& request,
                                        const JobEnd& end) {
  std::vector<Printed> out;
  const auto wanted = [&](uint32_t number) { return request.execution == 0 || request.execution == number; };
  bool knows_last = false;
  for (const Printed& each : end.printed) {
    knows_last = knows_last || each.execution == end.last_execution;
    if (wanted(each.execution) && each.bytes > 0 && !store.extent({request.job, each.execution}).exists)
      out.push_back(each);
  }
  // Nobody said how much the last one printed. Then its log had an end mark at least.
  const ExecutionId last{request.job, end.last_execution};
  if (last.number != 0 && !knows_last && wanted(last.number) && !store.extent(last).exists)
    out.push_back({last.number, 0});
  return out;
}

// Those that printed more than there is, of which no log says that it ends early.
void add_what_never_came(const store::NumberedLogStore& store, const GetLogsRequest& request, const JobEnd& end,
                         LogPage& page) {
  for (const Printed& each : end.printed) {
    const ExecutionId execution{request.job, each.execution};
    const store::LogExtent extent = store.extent(execution);
    if (request.execution != 0 && request.execution != each.execution) continue;
    if (!extent.exists || extent.ended || extent.next_offset >= each.bytes) continue;
    page.chunks.push_back({.execution = execution,
                           .gap = LogGap{each.bytes - extent.next_offset, kLost},
                           .offset = extent.next_offset,
                           .next_offset = extent.next_offset});
  }
}

}  // namespace

absl::StatusOr<LogPage> LogHubCore::get_logs(const GetLogsRequest& request) const {
  if (request.offset < 0) return bad_field("offset", "must not be negative");
  if (request.limit < 0) return bad_field("limit", "must not be negative");
  // Asked before the log is read: an end that comes later makes this page incomplete, not wrong.
  ASSIGN_OR_RETURN(const JobEnd end, end_of(request.job));
  std::vector<uint32_t> executions = store_.executions(request.job);
  if (request.execution != 0) std::erase_if(executions, [&](uint32_t number) { return number != request.execution; });

  LogPage page;
  Room room{.entries = std::min(request.limit == 0 ? kDefaultEntries : request.limit, limits_.page_entries),
            .bytes = static_cast<int64_t>(limits_.page_bytes)};
  int64_t skip = request.offset;
  bool all_ended = true;
  const bool late = is_late(end);
  if (late) {
    for (const Printed& gone : expired_executions(store_, request, end)) {
      page.expired = true;
      if (skip == 0)
        page.chunks.push_back({.execution = {request.job, gone.execution}, .gap = LogGap{gone.bytes, kExpired}});
    }
  }
  for (const uint32_t number : executions) {
    const ExecutionId execution{request.job, number};
    const store::LogExtent extent = store_.extent(execution);
    all_ended = all_ended && has_ended(extent, number, end);
    if (skip > 0 && skip >= extent.entries) {
      skip -= extent.entries;
      continue;
    }
    int64_t offset = 0;
    if (skip > 0) {
      ASSIGN_OR_RETURN(offset, store_.offset_of_line(execution, skip));
    }
    skip = 0;
    ASSIGN_OR_RETURN(page.more, add_entries(store_, execution, offset, room, page));
    if (page.more) return page;
  }
  const uint32_t last = request.execution != 0 ? request.execution : end.last_execution;
  const bool has_last = last == 0 || has_ended(store_.extent({request.job, last}), last, end);
  if (late) add_what_never_came(store_, request, end, page);
  bool is_lost = false;
  for (const LogChunk& chunk : page.chunks) {
    page.expired = page.expired || (chunk.gap && chunk.gap->reason == kExpired);
    is_lost = is_lost || (chunk.gap && chunk.gap->reason == kLost);
  }
  page.complete = end.finished && ((has_last && all_ended) || late) && !page.expired && !is_lost;
  return page;
}

}  // namespace hodei::server
