#include "src/server/logs/log_types.h"

namespace hodei::server {

LogChunk to_chunk(store::NumberedPiece numbered, int64_t from) {
  store::LogPiece& piece = numbered.piece;
  LogChunk out{.execution = piece.execution,
               .offset = piece.offset,
               .first_line = numbered.first_line,
               .data = std::move(piece.data),
               .lines = std::move(piece.lines),
               .end_of_execution = piece.end};
  out.next_offset = out.offset + static_cast<int64_t>(out.data.size());
  const int64_t passed = std::max<int64_t>(piece.offset - from, 0);
  if (piece.lost == store::kLostUnknown) {
    out.gap = {.bytes = passed, .reason = kLost};
  } else if (passed > 0) {
    // A reader that stands inside of what was dropped has been told of the part before it.
    out.gap = {.bytes = passed, .reason = passed > piece.lost ? kExpired : kDropped};
  }
  return out;
}

}  // namespace hodei::server
