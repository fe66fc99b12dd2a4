// Adds lines at the beginning of a script, so that a script whose middle fails does not count as successful.
#pragma once

#include <string>
#include <string_view>

namespace hodei::worker {

// The header for this interpreter (`bash`, `/bin/sh`, `python3 -u`, …); empty: scripts of it are left unchanged.
std::string_view safety_header(std::string_view interpreter);

// `content` with the header as its first line, or as the second if the first is a shebang.
std::string with_safety_header(std::string_view interpreter, std::string_view content);

// The interpreter that the script's own first line names; empty: none.
std::string_view shebang_interpreter(std::string_view content);

}  // namespace hodei::worker
