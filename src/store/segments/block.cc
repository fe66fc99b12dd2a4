#include "src/store/segments/block.h"

#include <zstd.h>

#include <bit>
#include <cstring>

#include "src/base/codec.h"
#include "src/base/status.h"
#include "src/store/segments/crc32c.h"

namespace hodei::store {
namespace {

static_assert(std::endian::native == std::endian::little, "the layout on disk is little-endian");

constexpr int kCompressionLevel = 1;
// Below this zstd's own frame eats what it saves.
constexpr size_t kSmallestToCompress = 96;
// A header that claims more is not one; keeps a reader of a broken file from allocating without bound.
constexpr uint32_t kMaxBodyBytes = uint32_t{1} << 31;

// The header as it lies on disk.
struct PackedHeader {
  uint32_t magic, crc, body_bytes, raw_bytes, data_bytes, line_count, flags, execution;
  uint64_t job;
  int64_t offset, first_line, lost, written_us;
};
static_assert(sizeof(PackedHeader) == kBlockHeaderBytes);

// The checksum covers everything behind itself.
constexpr size_t kCheckedFrom = offsetof(PackedHeader, body_bytes);

}  // namespace

BlockEncoder::BlockEncoder() : context_(ZSTD_createCCtx()) { HODEI_CHECK(context_ != nullptr); }
BlockEncoder::~BlockEncoder() = default;

void BlockEncoder::FreeContext::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

// Lines first, as varints: length with the two flags, time as the difference to the line before; then the bytes.
void BlockEncoder::pack(const BlockPlan& plan) {
  Encoder lines;
  int64_t time = 0;
  for (const NewPart& part : plan.parts) {
    for (size_t i = 0; i < part.lines.size(); ++i) {
      const LogLine line = part.line(i);
      lines.u64(uint64_t{line.length} << 2 | uint64_t{line.partial} << 1 | uint64_t{line.is_stderr});
      lines.i64(line.time_us - time);
      time = line.time_us;
    }
  }
  raw_ = lines.take();
  raw_.reserve(raw_.size() + plan.data_bytes);
  for (const NewPart& part : plan.parts) raw_.append(part.data);
}

BlockHeader BlockEncoder::add(const BlockPlan& plan, WallTime written, std::string& out) {
  pack(plan);
  const NewPart& first = plan.parts.front();
  BlockHeader header{.raw_bytes = static_cast<uint32_t>(raw_.size()),
                     .data_bytes = static_cast<uint32_t>(plan.data_bytes),
                     .line_count = static_cast<uint32_t>(plan.line_count),
                     .flags = plan.parts.back().end ? BlockHeader::kEnd : 0u,
                     .execution = first.execution,
                     .offset = first.offset,
                     .first_line = first.first_line,
                     .lost = first.lost,
                     .written_us = written.us};
  std::string_view body = raw_;
  if (raw_.size() >= kSmallestToCompress) {
    packed_.resize(ZSTD_compressBound(raw_.size()));
    const size_t n =
        ZSTD_compressCCtx(context_.get(), packed_.data(), packed_.size(), raw_.data(), raw_.size(), kCompressionLevel);
    if (!ZSTD_isError(n) && n < raw_.size()) {
      body = std::string_view(packed_).substr(0, n);
      header.flags |= BlockHeader::kCompressed;
    }
  }
  finish(header, body, out);
  return header;
}

BlockHeader BlockEncoder::add_tombstone(JobId job, WallTime written, std::string& out) {
  BlockHeader header{.flags = BlockHeader::kTombstone, .execution = {job, 0}, .written_us = written.us};
  finish(header, {}, out);
  return header;
}

void BlockEncoder::finish(BlockHeader& header, std::string_view body, std::string& out) {
  header.body_bytes = static_cast<uint32_t>(body.size());
  if (out.empty()) header.flags |= BlockHeader::kAppendStart;
  PackedHeader packed{.magic = kBlockMagic,
                      .crc = 0,
                      .body_bytes = header.body_bytes,
                      .raw_bytes = header.raw_bytes,
                      .data_bytes = header.data_bytes,
                      .line_count = header.line_count,
                      .flags = header.flags,
                      .execution = header.execution.number,
                      .job = number(header.execution.job),
                      .offset = header.offset,
                      .first_line = header.first_line,
                      .lost = header.lost,
                      .written_us = header.written_us};
  const std::string_view bytes(reinterpret_cast<const char*>(&packed), sizeof(packed));
  packed.crc = header.crc = crc32c(body, crc32c(bytes.substr(kCheckedFrom)));
  out.append(bytes);
  out.append(body);
}

std::optional<BlockHeader> read_header(std::string_view bytes) {
  PackedHeader packed;
  if (bytes.size() < sizeof(packed)) return std::nullopt;
  std::memcpy(&packed, bytes.data(), sizeof(packed));
  if (packed.magic != kBlockMagic || packed.body_bytes > kMaxBodyBytes || packed.raw_bytes > kMaxBodyBytes ||
      packed.data_bytes > packed.raw_bytes || packed.line_count > packed.raw_bytes) {
    return std::nullopt;
  }
  if (!is_offset(packed.offset) || !is_offset(packed.first_line) || (packed.lost > 0 && !is_offset(packed.lost))) {
    return std::nullopt;
  }
  return BlockHeader{.crc = packed.crc,
                     .body_bytes = packed.body_bytes,
                     .raw_bytes = packed.raw_bytes,
                     .data_bytes = packed.data_bytes,
                     .line_count = packed.line_count,
                     .flags = packed.flags,
                     .execution = {JobId{packed.job}, packed.execution},
                     .offset = packed.offset,
                     .first_line = packed.first_line,
                     .lost = packed.lost,
                     .written_us = packed.written_us};
}

bool is_whole(const BlockHeader& header, std::string_view block) {
  return block.size() == kBlockHeaderBytes + header.body_bytes && crc32c(block.substr(kCheckedFrom)) == header.crc;
}

absl::StatusOr<LogPiece> decode_block(const BlockHeader& header, std::string_view block) {
  const auto broken = [&] {
    return absl::DataLossError(cat("the log block of ", to_string(header.execution), " at offset ", header.offset,
                                   " is damaged; its output is lost"));
  };
  if (!is_whole(header, block)) return broken();
  std::string_view raw = block.substr(kBlockHeaderBytes);
  std::string unpacked;
  if (header.has(BlockHeader::kCompressed)) {
    unpacked.resize(header.raw_bytes);
    const size_t n = ZSTD_decompress(unpacked.data(), unpacked.size(), raw.data(), raw.size());
    if (ZSTD_isError(n) || n != header.raw_bytes) return broken();
    raw = unpacked;
  }
  if (raw.size() != header.raw_bytes) return broken();
  LogPiece out{.execution = header.execution,
               .offset = header.offset,
               .lost = header.lost,
               .end = header.has(BlockHeader::kEnd)};
  out.lines.reserve(header.line_count);
  Decoder lines(raw.substr(0, raw.size() - header.data_bytes));
  uint64_t time = 0;  // wraps; check_piece() looks at what comes of it
  for (uint32_t i = 0; i < header.line_count; ++i) {
    const uint64_t length = lines.u64();
    time += static_cast<uint64_t>(lines.i64());
    out.lines.push_back({.length = static_cast<uint32_t>(length >> 2),
                         .is_stderr = (length & 1) != 0,
                         .partial = (length & 2) != 0,
                         .time_us = static_cast<int64_t>(time)});
  }
  if (!lines.ok() || !lines.done()) return broken();
  out.data.assign(raw.substr(raw.size() - header.data_bytes));
  if (!check_piece(out).ok()) return broken();
  return out;
}

}  // namespace hodei::store
