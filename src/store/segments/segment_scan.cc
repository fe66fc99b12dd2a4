#include "src/store/segments/segment_scan.h"

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

}  // namespace

absl::StatusOr<Scan> scan_segment(const ReadFile& file, int64_t size) {
  Scan scan;
  Window window(file, size);
  while (scan.good_bytes < size) {
    ASSIGN_OR_RETURN(const std::string_view head, window.at(scan.good_bytes, kBlockHeaderBytes));
    const std::optional<BlockHeader> header = read_header(head);
    if (!header) break;
    ASSIGN_OR_RETURN(const std::string_view block, window.at(scan.good_bytes, kBlockHeaderBytes + header->body_bytes));
    if (!is_whole(*header, block)) break;
    scan.index.add(*header, static_cast<uint32_t>(scan.good_bytes));
    scan.good_bytes += static_cast<int64_t>(block.size());
  }
  return scan;
}

}  // namespace hodei::store
