// Cuts output into lines while it is put together to a batch. Bytes are copied once, as a whole; a line is only a
// length. A line longer than the limit is cut into pieces that say so; carriage returns and binary bytes stay as they
// are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/time.h"
#include "src/worker/core/execution.h"
#include "src/worker/output/ring.h"

namespace hodei::worker {

struct Line {
  uint32_t length;
  bool partial;  // no newline at its end: it goes on, or the output ended there
  OutputStream stream;
  WallTime time;  // when its first byte was read
};

struct LogPart {
  ExecutionId execution;
  uint64_t offset = 0;
  std::string data;
  std::vector<Line> lines;
  uint64_t lost = 0;  // bytes that are missing right before offset
  bool end = false;
};

class LineCutter {
 public:
  static constexpr size_t kMaxLine = 64 << 10;

  explicit LineCutter(LogPart& part) : part_(part) {}

  void add(std::string_view bytes, OutputStream stream, WallTime time);
  // The bytes of the last line while it has no end; 0: there is no open line.
  size_t open_length() const { return open_length_; }
  WallTime open_since() const { return open_time_; }
  void close_open(bool partial);
  void drop_open();  // takes it out again: it will come back whole

 private:
  LogPart& part_;
  size_t open_length_ = 0;
  OutputStream open_stream_ = OutputStream::Stdout;
  WallTime open_time_;
};

}  // namespace hodei::worker
