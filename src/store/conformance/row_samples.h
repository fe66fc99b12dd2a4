// Rows of any listed type, made from their columns: a new row type is part of every suite, of the random histories and
// of the fuzz seeds without another line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>

#include "src/base/hash.h"
#include "src/base/ids.h"
#include "src/base/text.h"
#include "src/base/time.h"
#include "src/core/rows/row.h"

namespace hodei::store {

// Text that finds weak spots: quotes, NUL, control characters, several alphabets, bytes that are no UTF-8 at all.
using namespace std::string_view_literals;
inline constexpr std::string_view kNastyText =
    "it's \"x\" \0 \n \x01 ñandú 日本 🦀 %_\\ \xff\xfe; DROP TABLE spec\0"sv;

// Few different values, so that rows meet again. Same seed: same values.
class SampleValues {
 public:
  explicit SampleValues(uint64_t seed) : random_(seed) {}
  uint64_t pick(uint64_t below) { return random_() % below; }
  std::string text() {
    if (pick(4) == 0) return std::string(kNastyText.substr(pick(kNastyText.size())));
    return cat("t", pick(6));
  }

  void fill(bool& value) { value = pick(2) == 1; }
  void fill(double& value) { value = static_cast<double>(pick(100)) / 7; }
  void fill(std::string& value) { value = text(); }
  void fill(WallTime& value) { value.us = 1'700'000'000'000'000 + static_cast<int64_t>(pick(1000)); }
  void fill(Duration& value) { value = Duration(pick(1000)); }
  void fill(Hash128& value) { value = hash128(cat("h", pick(9))); }
  template <class Tag>
  void fill(Text<Tag>& value) {
    value = Text<Tag>(text());
  }
  // Small ones are states, numbers and counts that a table accepts.
  template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
  void fill(T& value) { value = static_cast<T>(1 + pick(7)); }
  template <class T>
  void fill(std::optional<T>& value) {
    value.reset();
    if (pick(2) == 0) fill(value.emplace());
  }

 private:
  std::mt19937_64 random_;
};

template <class Stored>
inline constexpr bool kIsPacked = false;
template <class T, auto kDecode>
inline constexpr bool kIsPacked<core::StoredPacked<T, kDecode>> = true;

// What is packed stays as it is by default, but for the key in it.
template <class Row>
Row a_row(SampleValues& values) {
  Row row;
  core::each_column<Row>([&](const auto& column) {
    if constexpr (!kIsPacked<typename std::remove_cvref_t<decltype(column)>::Stored>) {
      values.fill(std::invoke(column.access, row));
    }
  });
  return row;
}

}  // namespace hodei::store
