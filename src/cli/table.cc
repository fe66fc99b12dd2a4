#include "src/cli/table.h"

#include <algorithm>

#include "src/base/text.h"

namespace hodei::cli {
namespace {

constexpr size_t kGap = 3;

// Columns on the screen: code points, which is right for all but wide scripts.
size_t width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string_view escape_of(Colour colour) {
  switch (colour) {
    case Colour::Green: return "\x1b[32m";
    case Colour::Red: return "\x1b[31m";
    case Colour::Yellow: return "\x1b[33m";
    case Colour::Blue: return "\x1b[34m";
    case Colour::Grey: return "\x1b[90m";
    case Colour::Bold: return "\x1b[1m";
    case Colour::None: break;
  }
  return "";
}

}  // namespace

Colour colour_of_state(std::string_view state) {
  if (state == "Succeeded" || state == "Ready" || state == "Running" || state == "Busy") return Colour::Green;
  if (state == "Failed" || state == "Timeout" || state == "Critical" || state == "Unhealthy") return Colour::Red;
  if (state == "Pending" || state == "Scheduled" || state == "Degraded" || state == "Draining") return Colour::Yellow;
  if (state == "Cancelled" || state == "Terminated" || state == "Terminating") return Colour::Grey;
  return Colour::None;
}

std::string paint(std::string_view text, Colour colour, bool enabled) {
  if (!enabled || colour == Colour::None) return std::string(text);
  return cat(escape_of(colour), text, "\x1b[0m");
}

std::string Table::text(bool colours, size_t indent) const {
  std::vector<size_t> widths;
  for (const std::string& header : headers_) widths.push_back(width(header));
  std::vector<std::vector<std::string>> shown;
  for (const auto& row : rows_) {
    shown.emplace_back();
    for (size_t i = 0; i < row.size() && i < widths.size(); ++i) {
      shown.back().push_back(printable(row[i].text));
      widths[i] = std::max(widths[i], width(shown.back()[i]));
    }
  }
  std::string out;
  const auto line = [&](size_t cells, auto&& text_at, auto&& colour_at) {
    out.append(indent, ' ');
    for (size_t i = 0; i < cells; ++i) {
      out += paint(text_at(i), colour_at(i), colours);
      if (i + 1 < cells) out.append(widths[i] - width(text_at(i)) + kGap, ' ');
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    out += '\n';
  };
  line(
      headers_.size(), [&](size_t i) { return headers_[i]; }, [](size_t) { return Colour::Bold; });
  for (size_t r = 0; r < rows_.size(); ++r) {
    line(
        shown[r].size(), [&](size_t i) { return shown[r][i]; }, [&](size_t i) { return rows_[r][i].colour; });
  }
  return out;
}

void FieldList::add(std::string name, std::string value, Colour colour) {
  if (!value.empty()) rows_.push_back({std::move(name), {std::move(value), colour}});
}

std::string FieldList::text(bool colours) const {
  size_t widest = 0;
  for (const Row& row : rows_) widest = std::max(widest, width(row.name));
  std::string out;
  for (const Row& row : rows_) {
    out += cat("  ", paint(row.name, Colour::Grey, colours), std::string(widest - width(row.name) + kGap, ' '),
               paint(printable(row.value.text), row.value.colour, colours), "\n");
  }
  return out;
}

}  // namespace hodei::cli
