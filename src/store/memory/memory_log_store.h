// A LogStore in memory, for tests and the simulator. It keeps nothing after its destruction.
#pragma once

#include <map>
#include <mutex>

#include "src/store/segments/log_cut.h"

namespace hodei::store {

class MemoryLogStore final : public NumberedLogStore {
 public:
  explicit MemoryLogStore(const Clock* clock = nullptr) : clock_(clock) {}  // not given: the system's

  absl::Status append(const std::vector<LogPiece>& pieces) override;
  absl::StatusOr<NumberedPiece> read_numbered(ExecutionId execution, int64_t from, size_t max_bytes) const override;
  absl::StatusOr<int64_t> offset_of_line(ExecutionId execution, int64_t line) const override;
  LogExtent extent(ExecutionId execution) const override;
  std::vector<uint32_t> executions(JobId job) const override;
  absl::StatusOr<int64_t> clear(JobId job) override;
  absl::StatusOr<int64_t> expire(const LogRetention& retention, WallTime now) override;

 private:
  struct Stored {
    LogPiece piece;
    int64_t first_line = 0;
    WallTime written;
    int64_t end() const { return piece.offset + static_cast<int64_t>(piece.data.size()); }
  };
  struct Log {
    LogTail tail;
    std::vector<Stored> pieces;
  };
  WallTime now() const;
  std::map<ExecutionId, Log>::iterator oldest_log();

  const Clock* clock_;
  mutable std::mutex mutex_;
  std::map<ExecutionId, Log> logs_;
};

}  // namespace hodei::store
