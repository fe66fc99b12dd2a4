// One block of a segment: a header that checks itself and the block, then the lines and bytes of one execution, packed
// and compressed. The layout is fixed; kBlockMagic changes with it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/store/segments/log_cut.h"

struct ZSTD_CCtx_s;

namespace hodei::store {

inline constexpr uint32_t kBlockMagic = 0x31424c48;  // "HLB1"
inline constexpr size_t kBlockHeaderBytes = 72;
// Larger blocks compress a little better and cost every reader more; a longer line still stays whole.
inline constexpr size_t kBlockDataBytes = 256 * 1024;

struct BlockHeader {
  enum Flag : uint32_t { kCompressed = 1, kEnd = 2, kTombstone = 4, kAppendStart = 8 };

  uint32_t crc = 0;         // of everything behind it: the rest of the header and the body
  uint32_t body_bytes = 0;  // as stored
  uint32_t raw_bytes = 0;   // of the body before compression
  uint32_t data_bytes = 0;
  uint32_t line_count = 0;
  uint32_t flags = 0;
  ExecutionId execution;
  int64_t offset = 0;
  int64_t first_line = 0;
  int64_t lost = 0;
  int64_t written_us = 0;  // the server's wall clock; decides when the segment is too old

  bool has(Flag flag) const { return (flags & flag) != 0; }
};

// The parts of one execution, adjoining, that one append puts into one block.
struct BlockPlan {
  std::vector<NewPart> parts;
  size_t data_bytes = 0;
  size_t line_count = 0;
};

// Encodes blocks one after another; keeps the compressor and its buffers between them.
class BlockEncoder {
 public:
  BlockEncoder();
  ~BlockEncoder();

  // Append the block to `out` and return its header. The first one in `out` says that an append begins with it.
  BlockHeader add(const BlockPlan& plan, WallTime written, std::string& out);
  // The mark behind which a job's earlier output no longer exists.
  BlockHeader add_tombstone(JobId job, WallTime written, std::string& out);

 private:
  void pack(const BlockPlan& plan);
  void finish(BlockHeader& header, std::string_view body, std::string& out);

  struct FreeContext {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, FreeContext> context_;
  std::string raw_;
  std::string packed_;
};

// What an offset or a number of lines can be. Checked where it is read: a checksum says nothing about sense.
inline bool is_offset(int64_t value) { return value >= 0 && value <= int64_t{1} << 60; }

// Nothing unless the bytes begin with a header that could be one.
std::optional<BlockHeader> read_header(std::string_view bytes);
// Whether `block` (header and body) is whole.
bool is_whole(const BlockHeader& header, std::string_view block);
// DATA_LOSS when the body cannot be read.
absl::StatusOr<LogPiece> decode_block(const BlockHeader& header, std::string_view block);

}  // namespace hodei::store
