#include "src/base/journal.h"

#include <unistd.h>

#include <atomic>

#include "src/base/printable.h"
#include "src/base/status.h"
#include "src/base/time.h"

namespace hodei {
namespace {

constexpr std::string_view kNames[] = {"trace", "debug", "info", "warn", "error", "off"};

std::atomic<Level> threshold = Level::Info;

}  // namespace

absl::StatusOr<Level> parse_level(std::string_view text) {
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (text == kNames[i]) return static_cast<Level>(i);
  }
  return bad_field("log_level", "must be one of trace, debug, info, warn, error, off, not '", text, "'");
}

void set_journal_level(Level level) { threshold = level; }

bool journal_wants(Level level) { return level >= threshold.load(std::memory_order_relaxed); }

void write_journal(Level level, std::string_view who, const std::string& text) {
  const std::string line = cat(format_utc(SystemClock().now().wall), " ", kNames[static_cast<size_t>(level)], " ", who,
                               "[", getpid(), "] ", printable(text), "\n");
  // One write, so that lines of several processes do not mix. Nothing can be done about a failure.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace hodei
