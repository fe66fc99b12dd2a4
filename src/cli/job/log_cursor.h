// The position of a reader in the output of a job: execution and byte. After a broken stream the cursor requests what
// comes next and drops what was already printed, so that no byte is missing or repeated.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hodei/v1/log_service.pb.h"
#include "src/base/time.h"

namespace hodei::cli {

class LogCursor {
 public:
  explicit LogCursor(std::string job_id) : job_id_(std::move(job_id)) {}

  // Only this execution; 0: all.
  void keep_to(int32_t execution) { only_ = execution; }
  // Where to begin; after keep_to().
  void begin_at(int64_t offset) { execution_ = only_, offset_ = offset; }
  void begin_with_last(int64_t entries) { tail_ = entries; }  // 0: with the first
  void begin_since(WallTime time) { since_ = time; }          // not set: with the first

  struct Piece {
    const v1::LogEntry& entry;
    std::string bytes;  // what of the entry was not seen yet, with its newline
  };
  using Sink = std::function<void(const Piece&)>;

  // Inside an execution: that execution from the next byte. Otherwise all of them, of which take() drops the old.
  v1::SubscribeLogsRequest request() const;
  bool inside_execution() const { return execution_ != 0 && !ended_; }

  // The server left something out because this reader was too slow; it still has it. Takes nothing of the chunk, and
  // stands so that request() asks for what was left out.
  bool skipped_ahead(const v1::LogChunk& chunk);

  void take(const v1::LogChunk& chunk, const Sink& sink, const std::function<void(const v1::LogGap&)>& on_gap);

  // The current execution will have no more output.
  void leave_execution() { ended_ = execution_ != 0; }

  int32_t execution() const { return execution_; }
  int64_t offset() const { return offset_; }

 private:
  void enter(int32_t execution);
  bool is_past(int32_t execution) const { return execution < execution_ || (execution == execution_ && ended_); }

  std::string job_id_;
  int32_t only_ = 0;
  int32_t execution_ = 0;
  int64_t offset_ = 0;
  bool ended_ = false;
  bool begun_ = false;  // something has come
  int64_t tail_ = 0;
  WallTime since_;
};

}  // namespace hodei::cli
