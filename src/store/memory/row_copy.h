// Rows in memory pass through their encoding as rows on disk do: what a column form loses is lost here too, so the
// simulator and every test over the memory store find it.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "src/store/rows.h"

namespace hodei::store {

// A row that is written column by column and then read in the same order.
class RowCopy final : public RowOut, public RowIn {
 public:
  void integer(int64_t value) override { columns_.emplace_back(value); }
  void real(double value) override { columns_.emplace_back(value); }
  void text(std::string_view value) override { columns_.emplace_back(std::string(value)); }
  void bytes(std::string_view value) override { columns_.emplace_back(std::string(value)); }
  void packed(std::string&& value) override { columns_.emplace_back(std::move(value)); }
  void null() override { columns_.emplace_back(); }

  int64_t integer() override { return std::get<int64_t>(next()); }
  double real() override { return std::get<double>(next()); }
  std::string_view text() override { return std::get<std::string>(next()); }
  std::string_view bytes() override {
    const Column& column = next();
    return std::holds_alternative<std::monostate>(column) ? std::string_view() : std::get<std::string>(column);
  }

 private:
  using Column = std::variant<std::monostate, int64_t, double, std::string>;
  const Column& next() { return columns_.at(at_++); }

  std::vector<Column> columns_;
  size_t at_ = 0;
};

// What a load finds of a row that was stored.
template <class Row, class Write, class Read>
auto through_row(const Row& row, Write write, Read read) {
  RowCopy copy;
  write(row, copy);
  return read(copy);
}

}  // namespace hodei::store
