#include "src/store/segments/segment_index.h"

namespace hodei::store {

void OpenIndex::add(const BlockHeader& header, uint32_t position) {
  ++block_count_;
  newest_ = std::max(newest_, WallTime{header.written_us});
  if (header.has(BlockHeader::kTombstone)) {
    const JobId job = header.execution.job;
    entries_.erase(entries_.lower_bound({job, 0}), entries_.upper_bound({job, UINT32_MAX}));
    tombstones_.push_back(job);
    return;
  }
  Entry& entry = entries_[header.execution];
  if (entry.blocks.empty()) entry.run.first_offset = header.offset - std::max<int64_t>(header.lost, 0);
  entry.blocks.push_back({.offset = header.offset,
                          .first_line = header.first_line,
                          .position = position,
                          .data_bytes = header.data_bytes});
  entry.run.block_count = static_cast<uint32_t>(entry.blocks.size());
  entry.run.tail = {.next_offset = header.offset + header.data_bytes,
                    .next_line = header.first_line + header.line_count,
                    .ended = header.has(BlockHeader::kEnd)};
}

std::optional<BlockRef> OpenIndex::Entry::block_at(int64_t from) const {
  const auto get = [this](uint32_t i) -> absl::StatusOr<BlockRef> { return blocks[i]; };
  const uint32_t found = *block_for_offset(run.block_count, from, get);
  if (found == run.block_count) return std::nullopt;
  return blocks[found];
}

BlockRef OpenIndex::Entry::block_with_line(int64_t line) const {
  const auto get = [this](uint32_t i) -> absl::StatusOr<BlockRef> { return blocks[i]; };
  return blocks[*block_for_line(run.block_count, line, get)];
}

const OpenIndex::Entry* OpenIndex::find(ExecutionId execution) const {
  const auto it = entries_.find(execution);
  return it == entries_.end() ? nullptr : &it->second;
}

}  // namespace hodei::store
