// A folder of log segments and indexes as a server finds it at its start: any bytes are opened, read to an end, written
// on and read back.
#include "src/base/codec.h"
#include "src/store/segments/power_cut_files.h"
#include "src/store/segments/segment_log_store.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/segment_bytes.h"

using namespace hodei;
using namespace hodei::store;

static const std::string kFolder = "logs";

static void put_file(Files& files, const std::string& path, std::string_view bytes) {
  const auto file = files.open_append(path);
  REQUIRE(file.ok() && (*file)->append(bytes).ok(), path);
}

// A reader that goes on behind what it was given comes to an end.
static void read_to_the_end(const SegmentLogStore& logs, ExecutionId execution, bool is_forged) {
  int64_t at = 0;
  for (int pieces = 0;; ++pieces) {
    REQUIRE(pieces < 10'000, "a reader of ", to_string(execution), " never comes to an end; it stands at ", at);
    const absl::StatusOr<NumberedPiece> read = logs.read_numbered(execution, at, 4096);
    if (!read.ok()) return;
    const LogPiece& piece = read->piece;
    if (is_forged && (!check_piece(piece).ok() || piece.offset < at)) return;
    REQUIRE(check_piece(piece).ok(), fuzz::words(check_piece(piece)));
    REQUIRE(piece.offset >= at, piece.offset, " lies before ", at);
    at = piece.offset + static_cast<int64_t>(piece.data.size());
    if (piece.end || (piece.data.empty() && piece.lost == 0)) return;
  }
}

static void written_on(SegmentLogStore& logs, ExecutionId execution) {
  const LogExtent before = logs.extent(execution);
  if (before.ended || before.next_offset < 0 || before.next_offset > int64_t{1} << 59) return;
  const LogPiece piece{.execution = execution,
                       .offset = before.next_offset,
                       .data = "one more line\n",
                       .lines = {{.length = 14, .time_us = 1}}};
  if (!logs.append({piece}).ok()) return;
  const absl::StatusOr<NumberedPiece> read = logs.read_numbered(execution, before.next_offset, 4096);
  REQUIRE(read.ok() && read->piece.data == piece.data, before.next_offset);
}

FUZZ_TARGET(input) {
  Decoder in(input);
  const uint64_t repairs = in.u64();
  const bool is_forged = (repairs & 3) != 0;  // right checksums over bytes that make no sense
  PowerCutFiles files(1);
  for (uint64_t id = 1; id <= 2; ++id) {
    std::string segment(in.text());
    std::string index(in.text());
    if ((repairs & 1) != 0) fuzz::repair_segment(segment);
    if ((repairs & 2) != 0) fuzz::repair_index(index);
    if (!segment.empty()) put_file(files, segment_path(kFolder, id), segment);
    if (!index.empty()) put_file(files, index_path(kFolder, id), index);
  }
  const auto logs = SegmentLogStore::open(kFolder, {.segment_bytes = 2048, .files = &files});
  if (!logs.ok()) return;
  for (const uint64_t job : {1, 2, 3}) {
    for (const uint32_t number : (*logs)->executions(JobId{job})) {
      read_to_the_end(**logs, {JobId{job}, number}, is_forged);
      (*logs)->offset_of_line({JobId{job}, number}, 3).status().IgnoreError();
    }
    // Blocks and indexes that lie with a right checksum may hide what is written behind them; damaged ones may not.
    if (!is_forged) written_on(**logs, {JobId{job}, 1});
  }
  (*logs)->clear(JobId{2}).status().IgnoreError();
  (*logs)->expire({.max_bytes = 1024}, {1'800'000'000'000'000}).status().IgnoreError();
}
