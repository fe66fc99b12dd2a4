// Which executions have output in one segment, and in which of its blocks.
//
// OpenIndex is the one of the segment that is being written: in memory, growing with every block. When the segment is
// full it is written to a file beside it and from then on read from there (sealed_segment.h).
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "src/store/segments/block.h"

namespace hodei::store {

// Lies like this in index files.
struct BlockRef {
  int64_t offset = 0;  // of its first byte in the execution's output
  int64_t first_line = 0;
  uint32_t position = 0;  // in the segment
  uint32_t data_bytes = 0;

  int64_t end() const { return offset + data_bytes; }
};
static_assert(sizeof(BlockRef) == 24);

// The output of one execution inside one segment.
struct Run {
  int64_t first_offset = 0;  // 0: the log begins here, there is nothing older to look for
  LogTail tail;              // behind the run's last block
  uint32_t first_block = 0;  // in the index file
  uint32_t block_count = 0;
};

// The number of the block that a reader at `from` wants next: the first that ends behind it; else the last one, if it
// is an end mark without data. `count` when there is none. `get(i)` gives StatusOr<BlockRef>.
template <class Get>
absl::StatusOr<uint32_t> block_for_offset(uint32_t count, int64_t from, const Get& get) {
  uint32_t low = 0;
  uint32_t high = count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    const absl::StatusOr<BlockRef> block = get(middle);
    if (!block.ok()) return block.status();
    const bool wanted = block->end() > from || (block->data_bytes == 0 && block->offset >= from);
    if (wanted)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// The last block that begins at or before `line`; the first one when there is none.
template <class Get>
absl::StatusOr<uint32_t> block_for_line(uint32_t count, int64_t line, const Get& get) {
  uint32_t low = 0;
  uint32_t high = count;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    const absl::StatusOr<BlockRef> block = get(middle);
    if (!block.ok()) return block.status();
    if (block->first_line <= line)
      low = middle;
    else
      high = middle;
  }
  return low;
}

class OpenIndex {
 public:
  struct Entry {
    Run run;
    std::vector<BlockRef> blocks;

    std::optional<BlockRef> block_at(int64_t from) const;
    BlockRef block_with_line(int64_t line) const;
  };

  // Blocks come in the order of the segment. A tombstone forgets what its job has here.
  void add(const BlockHeader& header, uint32_t position);

  const Entry* find(ExecutionId execution) const;
  const std::map<ExecutionId, Entry>& entries() const { return entries_; }
  const std::vector<JobId>& tombstones() const { return tombstones_; }
  uint32_t block_count() const { return block_count_; }
  WallTime newest() const { return newest_; }

 private:
  std::map<ExecutionId, Entry> entries_;
  std::vector<JobId> tombstones_;
  uint32_t block_count_ = 0;
  WallTime newest_;
};

}  // namespace hodei::store
