// Rows in memory pass through their encoding as rows on disk do: what a column form loses is lost here too, so the
// simulator and every test over the memory store find it.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/core/rows/row.h"
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

  int64_t integer() override { return value_or<int64_t>(0); }
  double real() override { return value_or<double>(0); }
  std::string_view text() override { return bytes(); }
  std::string_view bytes() override {
    const Value& value = next();
    return std::holds_alternative<std::monostate>(value) ? std::string_view() : std::get<std::string>(value);
  }
  bool next_is_null() const override { return std::holds_alternative<std::monostate>(columns_.at(at_)); }

  // Whether its first columns are those of the other.
  bool starts_with(const RowCopy& other) const {
    return columns_.size() >= other.columns_.size() &&
           std::equal(other.columns_.begin(), other.columns_.end(), columns_.begin());
  }

 private:
  using Value = std::variant<std::monostate, int64_t, double, std::string>;
  const Value& next() { return columns_.at(at_++); }
  // A database reads NULL as nothing.
  template <class T>
  T value_or(T nothing) {
    const Value& value = next();
    return std::holds_alternative<std::monostate>(value) ? nothing : std::get<T>(value);
  }

  std::vector<Value> columns_;
  size_t at_ = 0;
};

// What a load finds of a row that was stored.
template <class Row>
std::shared_ptr<const Row> through_columns(const Row& row) {
  RowCopy copy;
  core::write_row(row, copy);
  return std::make_shared<const Row>(core::read_row<Row>(copy));
}

// The same of a job's rows, which have functions of their own.
template <class Row, class Write, class Read>
auto through_row(const Row& row, Write write, Read read) {
  RowCopy copy;
  write(row, copy);
  return read(copy);
}

}  // namespace hodei::store
