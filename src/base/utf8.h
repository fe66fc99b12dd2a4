// Checks whether text is valid UTF-8, because protobuf refuses other strings. Input from people and programs may be any
// bytes.
#pragma once

#include <string_view>

namespace hodei {

bool is_utf8(std::string_view text);

}  // namespace hodei
