// The beginning of a text, cut between characters: half a character is not UTF-8, and protobuf refuses to read it.
#pragma once

#include <string_view>

namespace hodei {

inline std::string_view clip(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most);
}

}  // namespace hodei
