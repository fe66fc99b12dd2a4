// Text from outside (names, labels, messages, logs of workers) on its way to a terminal. Control characters, also those
// of C1 and of bidirectional text, and bytes that are no text would move the cursor, change what is shown or answer for
// the user: they become escapes that everybody can see.
#pragma once

#include <string>
#include <string_view>

namespace hodei {

// For one line: line breaks are shown as escapes too.
std::string printable(std::string_view text);

// For several: line breaks and tabs stay.
std::string printable_lines(std::string_view text);

// For several, in which the colours are ours: the sequences of src/cli/output/table.cc that set them stay, too.
std::string printable_painted(std::string_view text);

// JSON allows some of those characters inside its strings; there they are escaped as JSON does (\u009b).
std::string printable_json(std::string_view json);

}  // namespace hodei
