// A LogStore that also knows the numbers of lines, so that people can ask for "line 5,000" of a large log and every
// entry can carry its sequence number, without reading all that comes before.
#pragma once

#include "src/store/log_store.h"

namespace hodei::store {

// `LogPiece::lost` when something is missing and nobody knows how much.
inline constexpr int64_t kLostUnknown = -1;

struct NumberedPiece {
  LogPiece piece;
  int64_t first_line = 0;  // number of its first line in the execution's output, from 0; expired lines count
};

class NumberedLogStore : public LogStore {
 public:
  // As read(). A block that can no longer be read comes as an empty piece behind it with `lost` = kLostUnknown.
  virtual absl::StatusOr<NumberedPiece> read_numbered(ExecutionId execution, int64_t from, size_t max_bytes) const = 0;
  // Where a line begins; the first one that is left when that one has expired, the end when there is none yet.
  virtual absl::StatusOr<int64_t> offset_of_line(ExecutionId execution, int64_t line) const = 0;

  absl::StatusOr<LogPiece> read(ExecutionId execution, int64_t from, size_t max_bytes) const final {
    auto found = read_numbered(execution, from, max_bytes);
    if (!found.ok()) return found.status();
    return std::move(found->piece);
  }
};

}  // namespace hodei::store
