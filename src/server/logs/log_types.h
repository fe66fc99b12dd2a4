// The words that the log hub and its callers share: plain structs, no protobuf, no gRPC.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/store/segments/numbered_log_store.h"

namespace hodei::server {

struct LogHubLimits {
  // Output taken from workers that is not durable yet; beyond it they are held back.
  size_t inbox_bytes = size_t{64} << 20;
  // Written with one sync. Larger groups only add delay.
  size_t group_bytes = size_t{8} << 20;
  // The newest output of a job that is kept in memory: as long as it is one of the last entries and fits.
  size_t buffer_entries = 1000;
  size_t buffer_bytes = 256 * 1024;
  size_t all_buffers_bytes = size_t{64} << 20;
  // One answer to a subscriber; one page of get_logs. Both stay below gRPC's message limit.
  size_t chunk_bytes = 128 * 1024;
  size_t page_bytes = size_t{3} << 20;
  int64_t page_entries = 10'000;
  // A subscriber that falls further behind than this, or than it began plus this, continues from the live end.
  int64_t max_behind = int64_t{256} << 20;
  // How long after a job's end its last output may come; then subscribers are told that it is lost.
  Duration end_grace = std::chrono::seconds(60);
  Duration expire_every = std::chrono::seconds(60);
  store::LogRetention retention;
};

// Output that is missing, said out loud.
struct LogGap {
  int64_t bytes = 0;  // 0: not known
  std::string_view reason;
};
inline constexpr std::string_view kSlowSubscriber = "slow_subscriber";
inline constexpr std::string_view kDropped = "dropped";  // by the worker, or in a hole that it left
inline constexpr std::string_view kExpired = "expired";
inline constexpr std::string_view kCleared = "cleared";  // somebody deleted it
inline constexpr std::string_view kLost = "lost";        // the worker is gone, or a block is damaged

// Entries of one execution, in order.
struct LogChunk {
  ExecutionId execution;
  std::optional<LogGap> gap;  // before the entries
  int64_t offset = 0;         // of data's first byte in the execution's output
  int64_t first_line = 0;     // number of its first line in the execution's output
  std::string data;
  std::vector<store::LogLine> lines;
  int64_t next_offset = 0;  // continue from here after a break
  bool end_of_execution = false;
};

struct LogEntry {
  ExecutionId execution;
  std::string_view line;  // without its newline; points into the chunk
  int64_t sequence = 0;
  int64_t offset = 0;
  int64_t time_us = 0;
  bool is_stderr = false;
  bool partial = false;
};

template <class Visit>
void for_each_entry(const LogChunk& chunk, const Visit& visit) {
  std::string_view rest = chunk.data;
  LogEntry entry{.execution = chunk.execution, .sequence = chunk.first_line, .offset = chunk.offset};
  for (const store::LogLine& line : chunk.lines) {
    entry.line = rest.substr(0, line.length);
    if (!line.partial && entry.line.ends_with('\n')) entry.line.remove_suffix(1);
    entry.time_us = line.time_us;
    entry.is_stderr = line.is_stderr;
    entry.partial = line.partial;
    visit(entry);
    rest.remove_prefix(line.length);
    entry.offset += line.length;
    ++entry.sequence;
  }
}

struct SubscribeRequest {
  JobId job{};
  uint32_t execution = 0;   // 0: all, one after another
  int64_t from_offset = 0;  // of that execution's output; needs `execution`
  bool follow = true;       // false: only what is there now
  int64_t tail = 0;         // begin so many entries before the end of what is there; 0: at the beginning
  WallTime since;           // begin at the first entry that is not older; not set: at the beginning
};

struct GetLogsRequest {
  JobId job{};
  uint32_t execution = 0;  // 0: all
  int64_t limit = 0;       // entries; 0 is read as 1000
  int64_t offset = 0;      // entries to pass over
};

struct LogPage {
  std::vector<LogChunk> chunks;
  bool more = false;
  bool complete = false;  // the job has ended and this is the end of its output
  bool expired = false;   // output that was there has been removed because of its age or size; never complete then
};

struct LogAck {
  ExecutionId execution;
  int64_t durable_offset = 0;  // everything before it is durable, or known to be missing
};

// Where pieces come from: the stream of one worker. Called on the hub's thread, which must not be held up.
class LogSource {
 public:
  virtual ~LogSource() = default;
  virtual void acknowledged(const std::vector<LogAck>& acks) = 0;
  // There is room again for what offer() refused.
  virtual void room() = 0;
};

// How much an execution printed, by the word of its worker.
struct Printed {
  uint32_t execution = 0;
  int64_t bytes = 0;
  WallTime ended = {};  // or a time after that; not set: just now
};

// What the job store knows about the end of a job.
struct JobEnd {
  bool finished = false;
  uint32_t last_execution = 0;   // 0: it never had one
  std::vector<Printed> printed;  // of executions that have ended
  WallTime finished_at;          // when it is finished; output is waited for until a while after it
};
// Nothing: there is no such job. Reads what is committed; may block.
using JobEnds = std::function<absl::StatusOr<std::optional<JobEnd>>(JobId)>;

// What a reader who stands at `from` is told about a piece; a gap when it begins later than expected.
LogChunk to_chunk(store::NumberedPiece piece, int64_t from);

}  // namespace hodei::server
