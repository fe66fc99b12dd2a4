// The words of tests/hostile_words.txt, for tests.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace hodei::api {

// A JSON string without its escapes. Enough for that file, which people write.
inline std::string from_json(const std::string& text) {
  const auto hex = [&](size_t at) { return static_cast<char32_t>(std::stoul(text.substr(at, 4), nullptr, 16)); };
  std::string out;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] != '\\') {
      out.push_back(text[i]);
      continue;
    }
    const char kind = text[++i];
    if (kind != 'u') {
      out.push_back(kind == 'n' ? '\n' : kind == 'r' ? '\r' : kind == 't' ? '\t' : kind);
      continue;
    }
    char32_t c = hex(i + 1);
    i += 4;
    if (c >= 0xd800 && c < 0xdc00) {
      c = 0x10000 + ((c - 0xd800) << 10) + (hex(i + 3) - 0xdc00);
      i += 6;
    }
    if (c < 0x80) {
      out.push_back(static_cast<char>(c));
    } else {
      const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
      const int first = more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0;
      out.push_back(static_cast<char>(first | (c >> (6 * more))));
      for (int k = more - 1; k >= 0; --k) out.push_back(static_cast<char>(0x80 | ((c >> (6 * k)) & 0x3f)));
    }
  }
  return out;
}

inline std::vector<std::string> hostile_words() {
  std::vector<std::string> out;
  std::ifstream file(HODEI_HOSTILE_WORDS);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') out.push_back(from_json(line));
  }
  EXPECT_GT(out.size(), 30U) << HODEI_HOSTILE_WORDS;
  return out;
}

}  // namespace hodei::api
