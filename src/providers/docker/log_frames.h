// What a container printed, as the engine sends it: frames of both streams, put back into one text of which only the
// end is kept.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hodei::providers::docker {

class LogFrames {
 public:
  explicit LogFrames(size_t most) : most_(most) {}

  void add(std::string_view piece);
  std::string take() { return std::move(text_); }

 private:
  void keep(std::string_view words);

  size_t most_;
  std::string head_;   // of the next frame, not yet whole
  uint32_t left_ = 0;  // of this frame
  std::string text_;
};

}  // namespace hodei::providers::docker
