// Where the output of executions lives. One port, one conformance suite; `segments/` is the file implementation.
//
// Output of one execution is one sequence of bytes, stdout and stderr interleaved as they were read, cut into lines.
// Appends are deduplicated by byte offset, so a worker may send again whatever was not acknowledged.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/base/ids.h"
#include "src/base/time.h"

namespace hodei::store {

struct LogLine {
  uint32_t length = 0;  // bytes, newline included
  bool is_stderr = false;
  bool partial = false;  // no newline at its end
  int64_t time_us = 0;   // wall clock
};

// A run of whole entries of one execution.
struct LogPiece {
  ExecutionId execution;
  int64_t offset = 0;  // of data's first byte in the execution's output
  std::string data;
  std::vector<LogLine> lines;  // lengths add up to data.size()
  int64_t lost = 0;            // bytes that are missing right before `offset`
  bool end = false;            // nothing follows
};

struct LogExtent {
  int64_t next_offset = 0;   // where the next append belongs
  int64_t first_offset = 0;  // older bytes have expired
  int64_t entries = 0;
  bool ended = false;
  bool exists = false;
};

struct LogRetention {
  Duration max_age = std::chrono::hours(24 * 14);
  int64_t max_bytes = int64_t{10} << 30;  // of all segments together
  // By age, one call removes at most this part of what is there (a tenth), and at least one segment: a clock that is
  // wrong must not cost everything at once.
  int64_t share_by_age = 10;
};

class LogStore {
 public:
  virtual ~LogStore() = default;

  // Writes the pieces and makes them durable with one sync. What an execution already has is cut off (also the middle
  // of a piece); a piece that starts beyond the end is kept and the hole recorded as lost. One call at a time.
  virtual absl::Status append(const std::vector<LogPiece>& pieces) = 0;

  // Everything below may run beside append and beside itself.

  // The first piece at or after `from`, at most about `max_bytes` long; an empty piece (no data, end as known) when
  // there is nothing yet. Pieces come cut at `from`, on a line boundary of what was appended.
  virtual absl::StatusOr<LogPiece> read(ExecutionId execution, int64_t from, size_t max_bytes) const = 0;

  virtual LogExtent extent(ExecutionId execution) const = 0;
  // Numbers of the executions of this job that have output, growing.
  virtual std::vector<uint32_t> executions(JobId job) const = 0;

  // Forgets a job's output; returns the bytes. Space comes back when its segments are rewritten or expire.
  virtual absl::StatusOr<int64_t> clear(JobId job) = 0;

  // Drops segments that are too old (a share of them) or too many. Returns the bytes freed.
  virtual absl::StatusOr<int64_t> expire(const LogRetention& retention, WallTime now) = 0;
};

}  // namespace hodei::store
