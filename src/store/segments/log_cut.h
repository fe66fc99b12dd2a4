// Cuts pieces of output: finds the part that is new to the store, and the part that a reader asked for. Pure, and the
// same for every LogStore.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "src/store/segments/numbered_log_store.h"

namespace hodei::store {

// Far above what a worker sends; keeps every length inside 32 bits.
inline constexpr size_t kMaxPieceBytes = size_t{256} << 20;

// How far the log of one execution has come.
struct LogTail {
  int64_t next_offset = 0;
  int64_t next_line = 0;
  bool ended = false;

  bool operator==(const LogTail&) const = default;
};

// A view of the new part of a piece. Its first line may begin in the middle of the piece's line.
struct NewPart {
  ExecutionId execution;
  int64_t offset = 0;
  int64_t first_line = 0;
  std::string_view data;
  std::span<const LogLine> lines;
  uint32_t cut_from_first_line = 0;
  int64_t lost = 0;
  bool end = false;

  LogLine line(size_t i) const {
    LogLine out = lines[i];
    if (i == 0) out.length -= cut_from_first_line;
    return out;
  }
};

// INVALID_ARGUMENT unless the lines add up to the data and offsets make sense.
absl::Status check_piece(const LogPiece& piece);

// Nothing when the execution has all of it already, or has ended. A piece without data counts only for its end mark:
// a hole becomes part of the log with the data behind it.
std::optional<NewPart> new_part(const LogPiece& piece, const LogTail& tail);

// The tail once `part` is part of the log.
LogTail after(const NewPart& part);

// Takes the first lines of `part`, about `max_bytes` of data, at least one line; `part` keeps the rest.
NewPart take_front(NewPart& part, size_t max_bytes, size_t max_lines = SIZE_MAX);

LogPiece to_piece(const NewPart& part);

// What a reader gets who is at `from` and wants about `max_bytes`, at least one line.
NumberedPiece cut_for_reader(const LogPiece& piece, int64_t first_line, int64_t from, size_t max_bytes);

}  // namespace hodei::store
