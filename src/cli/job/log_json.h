// A job's output as JSON, one object per line: entries, and the places where something is missing.
#pragma once

#include <string>

#include "src/cli/job/log_cursor.h"

namespace hodei::cli {

// `line` is the text; bytes that are not UTF-8 stand there as U+FFFD, and then `line_base64` has the line as it was.
// `next_offset` is what --offset takes to go on behind it.
std::string log_entry_json(const LogCursor::Piece& piece);
std::string log_gap_json(const v1::LogGap& gap, const LogCursor& at);

}  // namespace hodei::cli
