// The log of a process: one line per event on standard error, with time, level and component.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "src/base/text.h"

namespace hodei {

enum class Level { Trace, Debug, Info, Warn, Error, Off };

absl::StatusOr<Level> parse_level(std::string_view text);

// For the whole process; Info until set. Anything below is not even put together.
void set_journal_level(Level level);
bool journal_wants(Level level);

void write_journal(Level level, std::string_view who, const std::string& text);

template <class... Parts>
void journal(Level level, std::string_view who, const Parts&... parts) {
  if (journal_wants(level)) write_journal(level, who, cat(parts...));
}

}  // namespace hodei
