// The worker's own words, one line each on standard error: what happened, to which one, and why.
#pragma once

#include <unistd.h>

#include <string>

#include "src/base/text.h"
#include "src/base/time.h"

namespace hodei::worker {

template <class... Parts>
void say(const Parts&... parts) {
  const std::string line = cat(format_utc(SystemClock().now().wall), " worker[", getpid(), "] ", parts..., "\n");
  // One write, so that lines of supervisor and agent do not mix. Nothing can be done about a failure.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace hodei::worker
