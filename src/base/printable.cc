#include "src/base/printable.h"

#include <cstdint>

#include "src/base/text.h"
#include "src/base/utf8.h"

namespace hodei {
namespace {

struct Character {
  size_t size = 1;
  uint32_t code = 0;
  bool is_text = true;  // false: a byte that is no UTF-8
};

Character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {1, lead, true};
  const size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (size > text.size() || !is_utf8(text.substr(0, size))) return {1, lead, false};
  uint32_t code = lead & (size == 2 ? 0x1f : size == 3 ? 0x0f : 0x07);
  for (size_t i = 1; i < size; ++i) code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  return {size, code, true};
}

bool is_control(uint32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

// Marks that turn the order of what follows, and separators that some terminals take for a line break.
bool turns_text(uint32_t code) {
  return code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

// How long the sequence at the beginning is that sets one of our colours; 0: there is none.
size_t colour_length(std::string_view text) {
  for (const std::string_view colour :
       {"\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[34m", "\x1b[90m"}) {
    if (text.starts_with(colour)) return colour.size();
  }
  return 0;
}

void add_escaped(const Character& c, std::string& out) {
  if (c.code == '\n') {
    out += "\\n";
  } else if (c.code == '\t') {
    out += ' ';
  } else {
    out += c.code < 0x80 || !c.is_text ? fmt::format("\\x{:02x}", c.code) : fmt::format("\\u{:04x}", c.code);
  }
}

enum class Stays : uint8_t { Nothing, Lines, Colours };

std::string escaped(std::string_view text, Stays stays) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character c = first_of(text);
    const size_t colour = stays == Stays::Colours ? colour_length(text) : 0;
    const bool stays_as_it_is = stays != Stays::Nothing && (c.code == '\n' || c.code == '\t');
    size_t size = c.size;
    if (colour > 0) {
      size = colour;
      out += text.substr(0, size);
    } else if (!c.is_text || turns_text(c.code) || (is_control(c.code) && !stays_as_it_is)) {
      add_escaped(c, out);
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, Stays::Nothing); }

std::string printable_lines(std::string_view text) { return escaped(text, Stays::Lines); }

std::string printable_painted(std::string_view text) { return escaped(text, Stays::Colours); }

std::string printable_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    const Character c = first_of(json);
    if (c.is_text && c.code >= 0x7f && (is_control(c.code) || turns_text(c.code))) {
      out += fmt::format("\\u{:04x}", c.code);
    } else {
      out += json.substr(0, c.size);
    }
    json.remove_prefix(c.size);
  }
  return out;
}

}  // namespace hodei
