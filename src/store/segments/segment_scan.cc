#include "src/store/segments/segment_scan.h"

#include <algorithm>

#include "src/base/status.h"

namespace hodei::store {
namespace {

constexpr size_t kReadAtOnce = size_t{4} << 20;

// A window over the file that moves forward.
class Window {
 public:
  Window(const ReadFile& file, int64_t size) : file_(file), size_(size) {}

  // `bytes` at `position`; fewer at the end of the file.
  absl::StatusOr<std::string_view> at(int64_t position, size_t bytes) {
    bytes = std::min(bytes, static_cast<size_t>(std::max<int64_t>(size_ - position, 0)));
    if (position < start_ || position + static_cast<int64_t>(bytes) > start_ + static_cast<int64_t>(buffer_.size())) {
      ASSIGN_OR_RETURN(buffer_, file_.read(position, std::max(bytes, kReadAtOnce)));
      start_ = position;
    }
    return std::string_view(buffer_).substr(static_cast<size_t>(position - start_), bytes);
  }

 private:
  const ReadFile& file_;
  int64_t size_;
  int64_t start_ = 0;
  std::string buffer_;
};

// Checksums that a search for the next whole block may read: a job may have printed what looks like many large blocks.
constexpr int64_t kMaxProbedBytes = int64_t{1} << 30;

struct FoundBlock {
  BlockHeader header;
  int64_t position = 0;
  bool is_damaged = false;  // the header makes sense, the block as a whole does not

  int64_t end() const { return position + static_cast<int64_t>(kBlockHeaderBytes) + header.body_bytes; }
};

class Scanner {
 public:
  Scanner(const ReadFile& file, int64_t size) : window_(file, size), size_(size) {}

  absl::StatusOr<Scan> run(bool may_be_torn) {
    int64_t position = 0;
    while (position < size_) {
      ASSIGN_OR_RETURN(std::optional<FoundBlock> block, whole_block(position));
      if (!block) {
        ASSIGN_OR_RETURN(block, behind_damage(position));
        if (!block) break;  // nothing whole follows: the torn end of the last append
      }
      position = block->end();
      blocks_.push_back(*std::move(block));
    }
    if (may_be_torn) cut_off_last_append_if_damaged();
    return result();
  }

 private:
  absl::StatusOr<std::optional<BlockHeader>> header_at(int64_t position) {
    ASSIGN_OR_RETURN(const std::string_view head, window_.at(position, kBlockHeaderBytes));
    std::optional<BlockHeader> header = read_header(head);
    const int64_t room = size_ - position - static_cast<int64_t>(kBlockHeaderBytes);
    if (header && header->body_bytes > room) header.reset();
    return header;
  }

  absl::StatusOr<std::optional<FoundBlock>> whole_block(int64_t position) {
    ASSIGN_OR_RETURN(const std::optional<BlockHeader> header, header_at(position));
    if (!header) return std::nullopt;
    ASSIGN_OR_RETURN(const std::string_view block, window_.at(position, kBlockHeaderBytes + header->body_bytes));
    probed_ += static_cast<int64_t>(block.size());
    if (!is_whole(*header, block)) return std::nullopt;
    probed_ -= static_cast<int64_t>(block.size());  // only what was read in vain counts
    return FoundBlock{*header, position};
  }

  // The first whole block behind the damage at `from`; what is known of the damage is noted.
  absl::StatusOr<std::optional<FoundBlock>> behind_damage(int64_t from) {
    ASSIGN_OR_RETURN(const std::optional<BlockHeader> header, header_at(from));
    if (header) {
      // Its neighbour stands where the header says: only this block's own content is damaged. Readers who are led to it
      // are told that it is lost.
      const FoundBlock damaged{*header, from, true};
      ASSIGN_OR_RETURN(std::optional<FoundBlock> next, whole_block(damaged.end()));
      if (next) {
        blocks_.push_back(damaged);
        damages_.push_back({from, blocks_.size()});
        return next;
      }
    }
    for (int64_t at = from + 1; probed_ < kMaxProbedBytes; ++at) {
      ASSIGN_OR_RETURN(const std::optional<int64_t> candidate, next_magic(at));
      if (!candidate) return std::nullopt;
      at = *candidate;
      ASSIGN_OR_RETURN(std::optional<FoundBlock> next, whole_block(at));
      if (!next) continue;
      damages_.push_back({from, blocks_.size()});
      return next;
    }
    return std::nullopt;
  }

  absl::StatusOr<std::optional<int64_t>> next_magic(int64_t from) {
    constexpr size_t kStep = size_t{64} << 10;
    const std::string_view magic(reinterpret_cast<const char*>(&kBlockMagic), sizeof(kBlockMagic));
    while (from + static_cast<int64_t>(kBlockHeaderBytes) <= size_) {
      ASSIGN_OR_RETURN(const std::string_view bytes, window_.at(from, kStep));
      if (const size_t found = bytes.find(magic); found != std::string_view::npos) {
        return std::optional<int64_t>(from + static_cast<int64_t>(found));
      }
      if (bytes.size() <= magic.size()) break;
      from += static_cast<int64_t>(bytes.size() - magic.size() + 1);
    }
    return std::optional<int64_t>();
  }

  bool begins_append(size_t block) const {
    return block == 0 || blocks_[block].header.has(BlockHeader::kAppendStart) ||
           blocks_[block].header.written_us != blocks_[block - 1].header.written_us;
  }

  // Damage that may be part of the last append makes that append one that a crash cut off.
  void cut_off_last_append_if_damaged() {
    if (blocks_.empty()) return;
    size_t last_append = blocks_.size() - 1;
    while (!begins_append(last_append)) --last_append;
    for (const Damage& damage : damages_) {
      const bool begins_behind = blocks_[damage.next_block].header.has(BlockHeader::kAppendStart);
      if (damage.next_block < last_append || begins_behind) continue;
      std::erase_if(blocks_, [&](const FoundBlock& block) { return block.position >= damage.position; });
      return;
    }
  }

  Scan result() const {
    Scan out;
    for (const FoundBlock& block : blocks_) {
      out.damaged_bytes += block.position - out.good_bytes;
      if (block.is_damaged) out.damaged_bytes += block.end() - block.position;
      out.good_bytes = block.end();
      if (!block.is_damaged || fits(block, out.index))
        out.index.add(block.header, static_cast<uint32_t>(block.position));
    }
    return out;
  }

  // Whether a header that nothing vouches for goes on where its execution's log has come to.
  bool fits(const FoundBlock& damaged, const OpenIndex& index) const {
    const BlockHeader& header = damaged.header;
    if (header.has(BlockHeader::kTombstone)) return false;
    const OpenIndex::Entry* known = index.find(header.execution);
    const int64_t begins = header.offset - std::max<int64_t>(header.lost, 0);
    if (known != nullptr && (begins != known->run.tail.next_offset || header.first_line != known->run.tail.next_line))
      return false;
    const auto same = [&](const FoundBlock& block) { return block.header.execution == header.execution; };
    const auto follows = [&](const FoundBlock& block) { return block.position > damaged.position && same(block); };
    const auto next = std::find_if(blocks_.begin(), blocks_.end(), follows);
    if (next == blocks_.end()) return true;
    return next->header.offset - std::max<int64_t>(next->header.lost, 0) == header.offset + header.data_bytes;
  }

  struct Damage {
    int64_t position = 0;
    size_t next_block = 0;  // the first whole one behind it
  };

  Window window_;
  const int64_t size_;
  int64_t probed_ = 0;
  std::vector<FoundBlock> blocks_;
  std::vector<Damage> damages_;
};

}  // namespace

absl::StatusOr<Scan> scan_segment(const ReadFile& file, int64_t size, bool is_last) {
  return Scanner(file, size).run(is_last);
}

}  // namespace hodei::store
