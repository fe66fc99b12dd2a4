#include "src/cli/output/columns.h"

#include <algorithm>
#include <cstdint>

namespace hodei::cli {
namespace {

struct Range {
  uint32_t first, last;
};

// From Unicode's EastAsianWidth (W and F) and the emoji that terminals show as wide.
constexpr Range kWide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},   {0x23f0, 0x23f0},
    {0x23f3, 0x23f3},   {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267f, 0x267f},
    {0x2693, 0x2693},   {0x26a1, 0x26a1},   {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26c4, 0x26c5},
    {0x26ce, 0x26ce},   {0x26d4, 0x26d4},   {0x26ea, 0x26ea},   {0x26f2, 0x26f3},   {0x26f5, 0x26f5},
    {0x26fa, 0x26fa},   {0x26fd, 0x26fd},   {0x2705, 0x2705},   {0x270a, 0x270b},   {0x2728, 0x2728},
    {0x274c, 0x274c},   {0x274e, 0x274e},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},
    {0x27b0, 0x27b0},   {0x27bf, 0x27bf},   {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2b55, 0x2b55},
    {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xa000, 0xa4cf},
    {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe10, 0xfe19},   {0xfe30, 0xfe6f},
    {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x16fe0, 0x18cd5}, {0x1b000, 0x1b2fb}, {0x1f004, 0x1f004},
    {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f335},
    {0x1f337, 0x1f37c}, {0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca}, {0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0},
    {0x1f3f4, 0x1f3f4}, {0x1f3f8, 0x1f43e}, {0x1f440, 0x1f440}, {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d},
    {0x1f54b, 0x1f54e}, {0x1f550, 0x1f567}, {0x1f57a, 0x1f57a}, {0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4},
    {0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc}, {0x1f6d0, 0x1f6d2}, {0x1f6d5, 0x1f6df},
    {0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7eb}, {0x1f90c, 0x1f93a}, {0x1f93c, 0x1f945},
    {0x1f947, 0x1f9ff}, {0x1fa70, 0x1faf8}, {0x20000, 0x3fffd}};

constexpr Range kJoined[] = {{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},
                             {0x0e31, 0x0e31}, {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
                             {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};

template <size_t N>
bool is_in(const Range (&ranges)[N], uint32_t character) {
  const Range* found = std::upper_bound(std::begin(ranges), std::end(ranges), character,
                                        [](uint32_t c, const Range& range) { return c < range.first; });
  return found != std::begin(ranges) && character <= (found - 1)->last;
}

size_t width_of(uint32_t character) {
  if (character < 0x300) return 1;
  if (is_in(kJoined, character)) return 0;
  return is_in(kWide, character) ? 2 : 1;
}

struct Character {
  size_t bytes = 1;
  size_t columns = 1;
};

// The first character. Bytes that are no text were made visible before, so what is broken here counts as one column.
Character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t bytes = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (bytes == 1 || bytes > text.size()) return {};
  uint32_t character = lead & (0xff >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) character = character << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  return {bytes, width_of(character)};
}

// How many bytes of the text fit.
size_t fitting_bytes(std::string_view text, size_t columns) {
  size_t at = 0;
  for (size_t used = 0; at < text.size();) {
    const Character next = first_of(text.substr(at));
    if (used + next.columns > columns) break;
    used += next.columns;
    at += next.bytes;
  }
  return at;
}

}  // namespace

size_t columns_of(std::string_view text) {
  size_t columns = 0;
  for (size_t at = 0; at < text.size();) {
    const Character next = first_of(text.substr(at));
    columns += next.columns;
    at += next.bytes;
  }
  return columns;
}

std::string fitted(std::string_view text, size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  return std::string(text.substr(0, fitting_bytes(text, std::max<size_t>(columns, 1) - 1))) + "…";
}

std::string wrapped(std::string_view text, size_t columns, size_t indent) {
  std::string out;
  while (columns_of(text) > columns) {
    size_t end = std::max(fitting_bytes(text, columns), first_of(text).bytes);
    const size_t space = text.rfind(' ', end);
    const bool at_space = space != std::string_view::npos && space > 0;
    if (at_space) end = space;
    out.append(text.substr(0, end)).append("\n").append(indent, ' ');
    text.remove_prefix(at_space ? end + 1 : end);
  }
  return out.append(text);
}

}  // namespace hodei::cli
