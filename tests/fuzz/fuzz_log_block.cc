// One block of a log segment, read back: damaged, or a piece that makes sense and is written as the same block again.
#include "src/store/segments/block.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/segment_bytes.h"

using namespace hodei;
using namespace hodei::store;

static bool equal(const LogLine& a, const LogLine& b) {
  return a.length == b.length && a.is_stderr == b.is_stderr && a.partial == b.partial && a.time_us == b.time_us;
}

static void written_again(const LogPiece& piece) {
  const NewPart part{.execution = piece.execution,
                     .offset = piece.offset,
                     .data = piece.data,
                     .lines = piece.lines,
                     .lost = piece.lost,
                     .end = piece.end};
  std::string bytes;
  const BlockHeader header = BlockEncoder().add({{part}, piece.data.size(), piece.lines.size()}, {7}, bytes);
  const std::optional<BlockHeader> found = read_header(bytes);
  REQUIRE(found && found->crc == header.crc && is_whole(*found, bytes), bytes.size());
  const absl::StatusOr<LogPiece> again = decode_block(*found, bytes);
  REQUIRE(again.ok(), fuzz::words(again.status()));
  REQUIRE(again->data == piece.data && again->offset == piece.offset && again->lost == piece.lost, piece.offset);
  REQUIRE(std::equal(piece.lines.begin(), piece.lines.end(), again->lines.begin(), again->lines.end(), equal), "");
}

FUZZ_TARGET(input) {
  if (input.empty()) return;
  std::string block(input.substr(1));
  if (input[0] % 2 == 0) fuzz::repair_block(block, 0);
  const std::optional<BlockHeader> header = read_header(block);
  if (!header) return;
  const absl::StatusOr<LogPiece> piece =
      decode_block(*header, std::string_view(block).substr(0, kBlockHeaderBytes + header->body_bytes));
  if (!piece.ok()) return REQUIRE(absl::IsDataLoss(piece.status()), fuzz::words(piece.status()));
  REQUIRE(check_piece(*piece).ok(), "");
  written_again(*piece);
}
