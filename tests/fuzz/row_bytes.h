// A row as one string of bytes, column after column: what the fuzzer of rows reads, and how its seeds are written.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/codec.h"
#include "src/core/rows/row.h"

namespace hodei::fuzz {

class RowToBytes final : public core::RowOut {
 public:
  void integer(int64_t value) override { out_.i64(value); }
  void real(double value) override { out_.u64(std::bit_cast<uint64_t>(value)); }
  void text(std::string_view value) override { out_.text(value); }
  void bytes(std::string_view value) override { out_.text(value); }
  void packed(std::string&& value) override { out_.text(value); }
  void null() override { out_.u64(0); }
  std::string take() { return out_.take(); }

 private:
  Encoder out_;
};

// Any bytes are a row. What is missing reads as nothing.
class RowFromBytes final : public core::RowIn {
 public:
  explicit RowFromBytes(std::string_view bytes) : in_(bytes) {}
  int64_t integer() override { return in_.i64(); }
  double real() override { return std::bit_cast<double>(in_.u64()); }
  std::string_view text() override { return in_.text(); }
  std::string_view bytes() override { return in_.text(); }
  bool next_is_null() const override { return in_.done(); }

 private:
  Decoder in_;
};

template <class Row>
std::string to_bytes(const Row& row) {
  RowToBytes out;
  core::write_row(row, out);
  return out.take();
}

template <class Row>
Row from_bytes(std::string_view bytes) {
  RowFromBytes in(bytes);
  return core::read_row<Row>(in);
}

// The first byte of an input: below this a packed column, from here on a row type by its place in the list.
inline constexpr size_t kFirstRowKind = 8;

}  // namespace hodei::fuzz
