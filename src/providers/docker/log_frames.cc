#include "src/providers/docker/log_frames.h"

#include <algorithm>

namespace hodei::providers::docker {
namespace {

// One byte for the stream, three zeros, the length with the highest byte first.
constexpr size_t kHead = 8;

uint32_t length_in(std::string_view head) {
  uint32_t length = 0;
  for (size_t i = 4; i < kHead; ++i) length = length << 8 | static_cast<unsigned char>(head[i]);
  return length;
}

}  // namespace

void LogFrames::add(std::string_view piece) {
  while (!piece.empty()) {
    if (left_ == 0) {
      const size_t want = std::min(kHead - head_.size(), piece.size());
      head_ += piece.substr(0, want);
      piece.remove_prefix(want);
      if (head_.size() < kHead) return;
      left_ = length_in(head_);
      head_.clear();
      continue;
    }
    const size_t want = std::min<size_t>(left_, piece.size());
    keep(piece.substr(0, want));
    left_ -= static_cast<uint32_t>(want);
    piece.remove_prefix(want);
  }
}

void LogFrames::keep(std::string_view words) {
  text_ += words;
  // Cut seldom, and down to half a limit more than asked for, so that long logs are not moved for each frame.
  if (text_.size() > 2 * most_) text_.erase(0, text_.size() - most_);
}

}  // namespace hodei::providers::docker
