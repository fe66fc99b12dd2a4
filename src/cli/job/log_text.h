// Prints a job's output as text: joins the pieces of lines, selects lines, adds timestamps, and removes the earlier
// states of progress bars if the output is not a terminal.
#pragma once

#include <functional>
#include <string>

#include "hodei/v1/log_service.pb.h"
#include "src/base/time.h"
#include "src/cli/job/log_request.h"

namespace hodei::cli {

class LogText {
 public:
  // What a line that has no end is held back for, at most.
  static constexpr size_t kMostHeld = 64 << 10;

  struct Terminals {
    bool out = false;
    bool err = false;
  };
  using Sink = std::function<void(bool is_stderr, std::string bytes)>;
  // The request outlives it.
  LogText(const LogRequest& request, Terminals terminals, Sink sink);

  void take(const v1::LogEntry& entry, std::string bytes);
  // Whatever is held: the output ends here, or something is missing.
  void finish();

 private:
  struct Stream {
    bool is_stderr = false;
    bool last_state_only = false;  // of a line that returns to its beginning
    std::string held;
    WallTime time;             // of its first byte
    bool inside_line = false;  // some of it has passed already
  };

  void emit(Stream& stream, bool ends);

  const LogRequest& request_;
  const Sink sink_;
  int32_t execution_ = 0;
  Stream streams_[2];
};

// What a terminal shows in the end of a line with carriage returns. The one before the newline stays.
std::string last_state(std::string line);

}  // namespace hodei::cli
