#include "src/worker/output/line_cutter.h"

#include <cstring>

namespace hodei::worker {

void LineCutter::add(std::string_view bytes, OutputStream stream, WallTime time) {
  if (bytes.empty()) return;
  if (open_length_ > 0 && stream != open_stream_) close_open(true);
  part_.data.append(bytes);
  while (!bytes.empty()) {
    if (open_length_ == 0) {
      open_stream_ = stream;
      open_time_ = time;
    }
    const size_t most = std::min(bytes.size(), kMaxLine - open_length_);
    const void* newline = std::memchr(bytes.data(), '\n', most);
    const size_t taken =
        newline != nullptr ? static_cast<size_t>(static_cast<const char*>(newline) - bytes.data()) + 1 : most;
    open_length_ += taken;
    bytes.remove_prefix(taken);
    if (newline != nullptr) {
      close_open(false);
    } else if (open_length_ == kMaxLine) {
      close_open(true);
    }
  }
}

void LineCutter::close_open(bool partial) {
  if (open_length_ == 0) return;
  part_.lines.push_back({static_cast<uint32_t>(open_length_), partial, open_stream_, open_time_});
  open_length_ = 0;
}

void LineCutter::drop_open() {
  part_.data.resize(part_.data.size() - open_length_);
  open_length_ = 0;
}

}  // namespace hodei::worker
