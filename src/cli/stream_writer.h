// Output of a job on its way to our own streams. What comes in one go is written in one go, and the order between the
// two streams is kept.
#pragma once

#include <string>
#include <string_view>

#include "src/cli/surroundings.h"

namespace hodei::cli {

class StreamWriter {
 public:
  explicit StreamWriter(const Surroundings& io) : io_(io) {}

  void add(bool is_stderr, std::string_view bytes) {
    if (is_stderr != is_stderr_ || waiting_.size() >= kMostWaiting) flush();
    is_stderr_ = is_stderr;
    waiting_ += bytes;
  }
  // After the last piece that is at hand.
  void flush() {
    if (waiting_.empty()) return;
    if (!(is_stderr_ ? io_.err(waiting_) : io_.out(waiting_))) closed_ = true;
    waiting_.clear();
  }
  bool closed() const { return closed_; }  // nobody reads any more

 private:
  static constexpr size_t kMostWaiting = 64 << 10;

  const Surroundings& io_;
  std::string waiting_;
  bool is_stderr_ = false;
  bool closed_ = false;
};

}  // namespace hodei::cli
