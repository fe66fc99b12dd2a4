// Prints tables with aligned columns, and colours states.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/printable.h"
#include "src/cli/terminal/style.h"

namespace hodei::cli {

enum class Colour { None, Green, Red, Yellow, Blue, Grey, Bold };

// Pending, Failed, Ready, … in the colour that people expect of them.
Colour colour_of_state(std::string_view state);

std::string paint(std::string_view text, Colour colour, bool enabled);

class Table {
 public:
  struct Cell {
    std::string text;
    Colour colour = Colour::None;
    Cell(std::string t, Colour c = Colour::None) : text(std::move(t)), colour(c) {}
    Cell(const char* t) : text(t) {}
  };

  explicit Table(std::vector<std::string> headers) : headers_(std::move(headers)) {}
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  // A column that says nothing when it is cut: a time, an action.
  void keep_whole(std::string header) { whole_.push_back(std::move(header)); }
  // Columns that are left out where the table does not fit otherwise: those without a value first, then in this order.
  void may_leave_out(std::vector<std::string> headers) { optional_ = std::move(headers); }
  bool empty() const { return rows_.empty(); }
  // On a terminal that is too narrow, cells are cut, optional columns are left out, or the rows become lists of fields.
  std::string text(const Style& style, size_t indent = 0) const;

 private:
  std::vector<std::vector<std::string>> shown_cells() const;
  std::optional<std::string> fitting_text(const Style& style,
                                          size_t indent) const;  // nothing: the screen is too narrow
  std::vector<size_t> widths(const std::vector<std::vector<std::string>>& shown, const Style& style) const;
  bool narrow(std::vector<size_t>& widths, size_t room) const;
  std::string stacked(const std::vector<std::vector<std::string>>& shown, const Style& style) const;
  Table without_one() const;  // the first of those that may be left out
  bool says_nothing(const std::string& header) const;
  size_t position(const std::string& header) const;

  std::vector<std::string> headers_;
  std::vector<std::string> whole_;
  std::vector<std::string> optional_;
  std::vector<std::vector<Cell>> rows_;
};

// "  Name       build": the fields of one thing, one below the other; empty values are left out.
class FieldList {
 public:
  void add(std::string name, std::string value, Colour colour = Colour::None);
  std::string text(const Style& style) const;

 private:
  struct Row {
    std::string name;
    Table::Cell value;
  };
  std::vector<Row> rows_;
};

}  // namespace hodei::cli
