#include "src/server/logs/log_start.h"

#include <algorithm>

#include "src/base/status.h"

namespace hodei::server {
namespace {

using Start = std::optional<LogStart>;

std::vector<uint32_t> wanted_executions(const store::NumberedLogStore& store, const SubscribeRequest& request) {
  std::vector<uint32_t> numbers = store.executions(request.job);
  if (request.execution != 0) std::erase_if(numbers, [&](uint32_t number) { return number != request.execution; });
  return numbers;
}

absl::StatusOr<Start> start_of_tail(const store::NumberedLogStore& store, const SubscribeRequest& request) {
  const std::vector<uint32_t> numbers = wanted_executions(store, request);
  int64_t left = request.tail;
  for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
    const ExecutionId execution{request.job, *number};
    const int64_t entries = store.extent(execution).entries;
    if (entries < left) {
      left -= entries;
      continue;
    }
    ASSIGN_OR_RETURN(const int64_t offset, store.offset_of_line(execution, entries - left));
    return LogStart{*number, offset};
  }
  return Start();
}

// Of a line that can no longer be read: longer ago than anything.
absl::StatusOr<int64_t> time_of_line(const store::NumberedLogStore& store, ExecutionId execution, int64_t line) {
  ASSIGN_OR_RETURN(const int64_t offset, store.offset_of_line(execution, line));
  ASSIGN_OR_RETURN(const store::NumberedPiece found, store.read_numbered(execution, offset, 1));
  return found.piece.lines.empty() ? INT64_MIN : found.piece.lines.front().time_us;
}

// The first line that is not older; the number of lines when all are. Lines are in the order of time, as far as the
// worker's clock is.
absl::StatusOr<int64_t> first_line_since(const store::NumberedLogStore& store, ExecutionId execution, WallTime since) {
  int64_t low = 0;
  int64_t high = store.extent(execution).entries;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    ASSIGN_OR_RETURN(const int64_t time, time_of_line(store, execution, middle));
    if (time >= since.us) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

absl::StatusOr<Start> start_of_time(const store::NumberedLogStore& store, const SubscribeRequest& request) {
  Start start;
  for (const uint32_t number : wanted_executions(store, request)) {
    const ExecutionId execution{request.job, number};
    const store::LogExtent extent = store.extent(execution);
    ASSIGN_OR_RETURN(const int64_t line, first_line_since(store, execution, request.since));
    if (line >= extent.entries) {
      start = LogStart{number, extent.next_offset};
      continue;
    }
    ASSIGN_OR_RETURN(const int64_t offset, store.offset_of_line(execution, line));
    return LogStart{number, offset};
  }
  return start;
}

}  // namespace

absl::StatusOr<Start> find_start(const store::NumberedLogStore& store, const SubscribeRequest& request) {
  Start tail, time;
  if (request.tail > 0) {
    ASSIGN_OR_RETURN(tail, start_of_tail(store, request));
  }
  if (request.since.is_set()) {
    ASSIGN_OR_RETURN(time, start_of_time(store, request));
  }
  return std::max(tail, time);
}

}  // namespace hodei::server
