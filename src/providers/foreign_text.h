// Cleans the output of other programs for our messages: protobuf accepts only UTF-8, and terminals act on control
// characters.
#pragma once

#include <string>
#include <string_view>

namespace hodei::providers {

// Every byte stays where it is; where the whole is not UTF-8, bytes beyond ASCII become '?'.
std::string as_utf8(std::string text);
// As part of one line: at most so many bytes of its beginning, without control characters.
std::string first_part(std::string_view text, size_t most);
// The same of its end.
std::string last_part(std::string_view text, size_t most);

}  // namespace hodei::providers
