#include "src/store/segments/log_cut.h"

#include "src/base/status.h"

namespace hodei::store {
namespace {

// A reader is told a time and a number with every line: many empty lines are as much to send as few long ones.
constexpr size_t kLeastLine = 8;
constexpr size_t kFewLines = 64;

// Far beyond any output, and safe to add to.
constexpr int64_t kMaxOffset = int64_t{1} << 60;
// Some 36,000 years; differences of two are safe, too.
constexpr int64_t kMaxTime = int64_t{1} << 60;

NewPart whole(const LogPiece& piece, int64_t first_line) {
  return {.execution = piece.execution,
          .offset = piece.offset,
          .first_line = first_line,
          .data = piece.data,
          .lines = piece.lines,
          .lost = piece.lost,
          .end = piece.end};
}

// Drops the bytes before `offset`; a line that is cut keeps its number.
void drop_before(NewPart& part, int64_t offset) {
  int64_t drop = offset - part.offset;
  if (drop <= 0) return;
  part.data.remove_prefix(static_cast<size_t>(drop));
  part.offset = offset;
  part.lost = 0;
  size_t passed = 0;
  while (passed < part.lines.size() && drop >= part.lines[passed].length) drop -= part.lines[passed++].length;
  part.lines = part.lines.subspan(passed);
  part.first_line += static_cast<int64_t>(passed);
  part.cut_from_first_line = static_cast<uint32_t>(drop);
}

}  // namespace

absl::Status check_piece(const LogPiece& piece) {
  uint64_t sum = 0;
  for (const LogLine& line : piece.lines) {
    sum += line.length;
    if (line.time_us < -kMaxTime || line.time_us > kMaxTime) {
      return bad_field("lines", "a time of ", to_string(piece.execution), " is out of range: ", line.time_us);
    }
  }
  if (sum != piece.data.size()) {
    return bad_field("lines", "the lengths of ", to_string(piece.execution), " at ", piece.offset, " add up to ", sum,
                     ", the data has ", piece.data.size(), " bytes");
  }
  if (piece.offset < 0 || piece.offset > kMaxOffset) return bad_field("offset", "out of range: ", piece.offset);
  if (piece.lost < kLostUnknown || piece.lost > kMaxOffset) return bad_field("lost", "out of range: ", piece.lost);
  if (piece.data.size() > kMaxPieceBytes) return bad_field("data", "a piece has at most ", kMaxPieceBytes, " bytes");
  return absl::OkStatus();
}

std::optional<NewPart> new_part(const LogPiece& piece, const LogTail& tail) {
  if (tail.ended) return std::nullopt;
  const int64_t piece_end = piece.offset + static_cast<int64_t>(piece.data.size());
  if (piece.end ? piece_end < tail.next_offset : piece_end <= tail.next_offset) return std::nullopt;
  if (piece.data.empty() && !piece.end) return std::nullopt;
  NewPart part = whole(piece, 0);
  drop_before(part, tail.next_offset);
  part.first_line = tail.next_line;
  if (const int64_t hole = part.offset - tail.next_offset; hole > 0) part.lost = std::max(part.lost, hole);
  return part;
}

LogTail after(const NewPart& part) {
  return {.next_offset = part.offset + static_cast<int64_t>(part.data.size()),
          .next_line = part.first_line + static_cast<int64_t>(part.lines.size()),
          .ended = part.end};
}

NewPart take_front(NewPart& part, size_t max_bytes, size_t max_lines) {
  size_t bytes = 0;
  size_t count = 0;
  while (count < std::min(part.lines.size(), max_lines)) {
    const size_t length = part.line(count).length;
    if (count > 0 && bytes + length > max_bytes) break;
    bytes += length;
    ++count;
  }
  NewPart front = part;
  front.data = part.data.substr(0, bytes);
  front.lines = part.lines.first(count);
  front.end = part.end && count == part.lines.size();
  part.offset += static_cast<int64_t>(bytes);
  part.first_line += static_cast<int64_t>(count);
  part.data.remove_prefix(bytes);
  part.lines = part.lines.subspan(count);
  part.cut_from_first_line = 0;
  part.lost = 0;
  return front;
}

LogPiece to_piece(const NewPart& part) {
  LogPiece out{.execution = part.execution,
               .offset = part.offset,
               .data = std::string(part.data),
               .lines = {part.lines.begin(), part.lines.end()},
               .lost = part.lost,
               .end = part.end};
  if (!out.lines.empty()) out.lines[0].length -= part.cut_from_first_line;
  return out;
}

NumberedPiece cut_for_reader(const LogPiece& piece, int64_t first_line, int64_t from, size_t max_bytes) {
  NewPart part = whole(piece, first_line);
  drop_before(part, from);
  const NewPart front = take_front(part, max_bytes, max_bytes / kLeastLine + kFewLines);
  return {.piece = to_piece(front), .first_line = front.first_line};
}

}  // namespace hodei::store
