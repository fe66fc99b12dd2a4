#include "src/cli/output/table.h"

#include <algorithm>

#include "src/base/text.h"
#include "src/cli/output/columns.h"

namespace hodei::cli {
namespace {

constexpr size_t kGap = 3;
constexpr size_t kFieldIndent = 2;

constexpr size_t kNarrowest = 8;   // a column that was cut to less says nothing
constexpr size_t kShortLine = 20;  // of wrapped text, however narrow the screen

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

bool is_among(const std::vector<std::string>& headers, const std::string& header) {
  return std::find(headers.begin(), headers.end(), header) != headers.end();
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

std::vector<size_t> Table::widths(const std::vector<std::vector<std::string>>& shown, const Style& style) const {
  std::vector<size_t> widths;
  for (const std::string& header : headers_) widths.push_back(style.headers ? columns_of(header) : 0);
  for (const auto& row : shown) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  return widths;
}

// Takes columns from the widest until the table fits; the first one, which holds ids and names, stays as it is.
bool Table::narrow(std::vector<size_t>& widths, size_t room) const {
  size_t total = kGap * (widths.size() - 1);
  for (const size_t width : widths) total += width;
  const auto may_be_cut = [&](size_t i) {
    return widths[i] > std::max(kNarrowest, columns_of(headers_[i])) && !is_among(whole_, headers_[i]);
  };
  while (total > room) {
    size_t widest = 0;
    for (size_t i = 1; i < widths.size(); ++i) {
      if (may_be_cut(i) && (widest == 0 || widths[i] > widths[widest])) widest = i;
    }
    if (widest == 0) return false;
    --widths[widest];
    --total;
  }
  return true;
}

size_t Table::position(const std::string& header) const {
  return static_cast<size_t>(std::find(headers_.begin(), headers_.end(), header) - headers_.begin());
}

bool Table::says_nothing(const std::string& header) const {
  const size_t at = position(header);
  return std::all_of(rows_.begin(), rows_.end(), [at](const auto& row) { return row[at].text == "-"; });
}

Table Table::without_one() const {
  Table out = *this;
  auto chosen = std::find_if(out.optional_.begin(), out.optional_.end(),
                             [this](const std::string& header) { return says_nothing(header); });
  if (chosen == out.optional_.end()) chosen = out.optional_.begin();
  const auto at = static_cast<std::ptrdiff_t>(position(*chosen));
  out.optional_.erase(chosen);
  out.headers_.erase(out.headers_.begin() + at);
  for (std::vector<Cell>& row : out.rows_) row.erase(row.begin() + at);
  return out;
}

// One below the other: for a screen that no table fits on.
std::string Table::stacked(const std::vector<std::vector<std::string>>& shown, const Style& style) const {
  std::string out;
  for (size_t r = 0; r < shown.size(); ++r) {
    out += cat(r == 0 ? "" : "\n", paint(shown[r][0], Colour::Bold, style.colours), "\n");
    FieldList fields;
    for (size_t i = 1; i < shown[r].size(); ++i) fields.add(headers_[i], shown[r][i], rows_[r][i].colour);
    out += fields.text(style);
  }
  return out;
}

std::vector<std::vector<std::string>> Table::shown_cells() const {
  std::vector<std::vector<std::string>> shown;
  for (const auto& row : rows_) {
    shown.emplace_back();
    for (size_t i = 0; i < row.size() && i < headers_.size(); ++i) shown.back().push_back(printable(row[i].text));
  }
  return shown;
}

std::string Table::text(const Style& style, size_t indent) const {
  Table table = *this;
  while (true) {
    const std::optional<std::string> fits = table.fitting_text(style, indent);
    if (fits) return *fits;
    if (table.optional_.empty()) return stacked(shown_cells(), style);
    table = table.without_one();
  }
}

std::optional<std::string> Table::fitting_text(const Style& style, size_t indent) const {
  const std::vector<std::vector<std::string>> shown = shown_cells();
  std::vector<size_t> room = widths(shown, style);
  if (style.columns > 0 && !narrow(room, style.columns - std::min(style.columns, indent))) return std::nullopt;
  std::string out;
  const auto line = [&](size_t cells, auto&& text_at, auto&& colour_at) {
    out.append(indent, ' ');
    for (size_t i = 0; i < cells; ++i) {
      const std::string cell = fitted(text_at(i), room[i]);
      out += paint(cell, colour_at(i), style.colours);
      if (i + 1 < cells) out.append(room[i] - columns_of(cell) + kGap, ' ');
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    out += '\n';
  };
  if (style.headers) {
    line(
        headers_.size(), [&](size_t i) { return headers_[i]; }, [](size_t) { return Colour::Bold; });
  }
  for (size_t r = 0; r < rows_.size(); ++r) {
    line(
        shown[r].size(), [&](size_t i) { return shown[r][i]; }, [&](size_t i) { return rows_[r][i].colour; });
  }
  return out;
}

void FieldList::add(std::string name, std::string value, Colour colour) {
  if (!value.empty()) rows_.push_back({std::move(name), {std::move(value), colour}});
}

std::string FieldList::text(const Style& style) const {
  size_t widest = 0;
  for (const Row& row : rows_) widest = std::max(widest, columns_of(row.name));
  const size_t indent = kFieldIndent + widest + kGap;
  std::string out;
  for (const Row& row : rows_) {
    std::string value = printable(row.value.text);
    if (style.columns > 0) value = wrapped(value, std::max(style.columns, indent + kShortLine) - indent, indent);
    out += cat(std::string(kFieldIndent, ' '), paint(row.name, Colour::Grey, style.colours),
               std::string(widest - columns_of(row.name) + kGap, ' '), paint(value, row.value.colour, style.colours),
               "\n");
  }
  return out;
}

}  // namespace hodei::cli
