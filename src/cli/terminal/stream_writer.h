// Writes the output of a job to our own streams. Output that arrives together is written together, and the order
// between the two streams is kept.
#pragma once

#include <cerrno>
#include <string>
#include <string_view>

#include "src/cli/terminal/surroundings.h"

namespace hodei::cli {

class StreamWriter {
 public:
  explicit StreamWriter(const Surroundings& io) : io_(io) {}

  void add(bool is_stderr, std::string_view bytes) {
    if (is_stderr != is_stderr_ || waiting_.size() >= kMostWaiting) flush();
    is_stderr_ = is_stderr;
    waiting_ += bytes;
  }
  // After the last piece that is at hand. Nothing is written after the first error: a hole would go unnoticed.
  void flush() {
    if (!waiting_.empty() && error_ == 0) {
      errno = 0;
      if (!(is_stderr_ ? io_.err(waiting_) : io_.out(waiting_))) error_ = errno != 0 ? errno : EPIPE;
    }
    waiting_.clear();
  }
  bool failed() const { return error_ != 0; }
  int error() const { return error_; }  // errno

 private:
  static constexpr size_t kMostWaiting = 64 << 10;

  const Surroundings& io_;
  std::string waiting_;
  bool is_stderr_ = false;
  int error_ = 0;
};

}  // namespace hodei::cli
