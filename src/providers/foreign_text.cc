#include "src/providers/foreign_text.h"

#include "src/base/clip.h"
#include "src/base/utf8.h"

namespace hodei::providers {
namespace {

std::string on_one_line(std::string_view text) {
  std::string out;
  for (const char c : text) out.push_back(static_cast<unsigned char>(c) < ' ' || c == 127 ? ' ' : c);
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return as_utf8(out.substr(std::min(out.find_first_not_of(' '), out.size())));
}

}  // namespace

std::string as_utf8(std::string text) {
  if (is_utf8(text)) return text;
  for (char& c : text) c = static_cast<unsigned char>(c) < 128 ? c : '?';
  return text;
}

std::string first_part(std::string_view text, size_t most) {
  return on_one_line(clip(text, most)) + (text.size() > most ? "…" : "");
}

std::string last_part(std::string_view text, size_t most) {
  if (text.size() <= most) return on_one_line(text);
  size_t from = text.size() - most;
  while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xc0) == 0x80) ++from;
  return "…" + on_one_line(text.substr(from));
}

}  // namespace hodei::providers
