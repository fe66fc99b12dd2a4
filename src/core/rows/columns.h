// The columns of a stored row, as data: a name, the member it holds, and how a value of that member is stored. Stores
// walk the columns of a row at compile time; nothing here knows a database.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "src/base/hash.h"
#include "src/base/ids.h"
#include "src/base/time.h"

namespace hodei::core {

// Text may hold any bytes: what people send is stored as it came.
enum class ColumnType : uint8_t { Int, Real, Text, Bytes };

// The parameters of a statement, in order. Views must stay valid until the statement has run; strings given away need
// not.
class RowOut {
 public:
  virtual ~RowOut() = default;
  virtual void integer(int64_t value) = 0;
  virtual void real(double value) = 0;
  virtual void text(std::string_view value) = 0;
  virtual void bytes(std::string_view value) = 0;
  virtual void packed(std::string&& value) = 0;  // bytes made for this row
  virtual void null() = 0;
};

// The columns of a result row, in order. Views are valid until the next row.
class RowIn {
 public:
  virtual ~RowIn() = default;
  virtual int64_t integer() = 0;
  virtual double real() = 0;
  virtual std::string_view text() = 0;
  virtual std::string_view bytes() = 0;  // null reads as empty
  virtual bool next_is_null() const = 0;
};

// Big-endian, so that rows sort like the numbers, in every backend.
inline std::string pack(const Hash128& hash) {
  std::string out(16, '\0');
  for (size_t i = 0; i < 8; ++i) {
    out[i] = static_cast<char>(hash.high >> (56 - 8 * i));
    out[8 + i] = static_cast<char>(hash.low >> (56 - 8 * i));
  }
  return out;
}

inline Hash128 unpack_hash(std::string_view bytes) {
  Hash128 hash;
  if (bytes.size() != 16) return hash;
  for (size_t i = 0; i < 8; ++i) {
    hash.high = hash.high << 8 | static_cast<unsigned char>(bytes[i]);
    hash.low = hash.low << 8 | static_cast<unsigned char>(bytes[8 + i]);
  }
  return hash;
}

// How a value is stored: the type of its column, and the way in and out.
template <class T>
struct StoredAs;

template <class T>
requires std::is_integral_v<T> || std::is_enum_v<T>
struct StoredAs<T> {
  using Value = T;
  static constexpr ColumnType type = ColumnType::Int;
  static constexpr bool nullable = false;
  template <class Out>
  static void write(T value, Out& out) {
    out.integer(static_cast<int64_t>(value));
  }
  template <class In>
  static T read(In& in) {
    if constexpr (std::is_same_v<T, bool>) {
      return in.integer() != 0;
    } else {
      return static_cast<T>(in.integer());
    }
  }
};

template <>
struct StoredAs<double> {
  using Value = double;
  static constexpr ColumnType type = ColumnType::Real;
  static constexpr bool nullable = false;
  template <class Out>
  static void write(double value, Out& out) {
    out.real(value);
  }
  template <class In>
  static double read(In& in) {
    return in.real();
  }
};

template <>
struct StoredAs<std::string> {
  using Value = std::string;
  static constexpr ColumnType type = ColumnType::Text;
  static constexpr bool nullable = false;
  template <class Out>
  static void write(const std::string& value, Out& out) {
    out.text(value);
  }
  template <class In>
  static std::string read(In& in) {
    return std::string(in.text());
  }
};

template <class Tag>
struct StoredAs<Text<Tag>> {
  using Value = Text<Tag>;
  static constexpr ColumnType type = ColumnType::Text;
  static constexpr bool nullable = false;
  template <class Out>
  static void write(const Value& value, Out& out) {
    out.text(value.str());
  }
  template <class In>
  static Value read(In& in) {
    return Value(std::string(in.text()));
  }
};

template <>
struct StoredAs<WallTime> {
  using Value = WallTime;
  static constexpr ColumnType type = ColumnType::Int;
  static constexpr bool nullable = false;
  template <class Out>
  static void write(WallTime value, Out& out) {
    out.integer(value.us);
  }
  template <class In>
  static WallTime read(In& in) {
    return WallTime{in.integer()};
  }
};

template <>
struct StoredAs<Duration> {
  using Value = Duration;
  static constexpr ColumnType type = ColumnType::Int;
  static constexpr bool nullable = false;
  template <class Out>
  static void write(Duration value, Out& out) {
    out.integer(value.count());
  }
  template <class In>
  static Duration read(In& in) {
    return Duration(in.integer());
  }
};

template <>
struct StoredAs<Hash128> {
  using Value = Hash128;
  static constexpr ColumnType type = ColumnType::Bytes;
  static constexpr bool nullable = false;
  template <class Out>
  static void write(const Hash128& value, Out& out) {
    out.packed(pack(value));
  }
  template <class In>
  static Hash128 read(In& in) {
    return unpack_hash(in.bytes());
  }
};

// NULL: absent.
template <class T>
struct StoredAs<std::optional<T>> {
  using Value = std::optional<T>;
  static constexpr ColumnType type = StoredAs<T>::type;
  static constexpr bool nullable = true;
  template <class Out>
  static void write(const Value& value, Out& out) {
    value ? StoredAs<T>::write(*value, out) : out.null();
  }
  template <class In>
  static Value read(In& in) {
    const bool is_null = in.next_is_null();
    T value = StoredAs<T>::read(in);
    return is_null ? Value() : Value(std::move(value));
  }
};

// A string that is no text.
struct StoredAsBytes {
  using Value = std::string;
  static constexpr ColumnType type = ColumnType::Bytes;
  static constexpr bool nullable = false;
  template <class Out>
  static void write(const std::string& value, Out& out) {
    out.bytes(value);
  }
  template <class In>
  static std::string read(In& in) {
    return std::string(in.bytes());
  }
};

// A struct with an `encode` of its own, in one column: a new field of it needs no new column.
template <class T, auto kDecode>
struct StoredPacked {
  using Value = T;
  static constexpr ColumnType type = ColumnType::Bytes;
  static constexpr bool nullable = false;
  template <class Out>
  static void write(const T& value, Out& out) {
    out.packed(encode(value));
  }
  template <class In>
  static T read(In& in) {
    return kDecode(in.bytes());
  }
};

// One column: `Access` is a pointer to a member, or a function that gives a reference into the row.
template <bool kKey, class Access, class Form>
struct ColumnOf {
  using Value = typename Form::Value;
  using Stored = Form;
  static constexpr bool is_key = kKey;

  std::string_view name;
  Access access;

  template <class Row, class Out>
  void write(const Row& row, Out& out) const {
    Form::write(std::invoke(access, row), out);
  }
  template <class Row, class In>
  void read(Row& row, In& in) const {
    std::invoke(access, row) = Form::read(in);
  }
};

// What a descriptor is written with: column::key("ns", &TemplateRow::ns).
namespace column {

template <class Row, class T>
constexpr auto key(std::string_view name, T Row::*member) {
  return ColumnOf<true, T Row::*, StoredAs<T>>{name, member};
}
template <class Row, class T>
constexpr auto value(std::string_view name, T Row::*member) {
  return ColumnOf<false, T Row::*, StoredAs<T>>{name, member};
}
template <class Row>
constexpr auto bytes(std::string_view name, std::string Row::*member) {
  return ColumnOf<false, std::string Row::*, StoredAsBytes>{name, member};
}
template <auto kDecode, class Row, class T>
constexpr auto packed(std::string_view name, T Row::*member) {
  return ColumnOf<false, T Row::*, StoredPacked<T, kDecode>>{name, member};
}
// A key that lies inside a packed member, which comes after it; `access` gives a reference to it.
template <class Row, class Access>
constexpr auto inner_key(std::string_view name, Access access) {
  using T = std::remove_cvref_t<std::invoke_result_t<Access, Row&>>;
  return ColumnOf<true, Access, StoredAs<T>>{name, access};
}
// The whole row, packed. Its keys come again as columns of their own.
struct Itself {
  template <class Row>
  Row& operator()(Row& row) const {
    return row;
  }
};
template <class Row, auto kDecode>
constexpr auto whole(std::string_view name) {
  return ColumnOf<false, Itself, StoredPacked<Row, kDecode>>{name, {}};
}

}  // namespace column
}  // namespace hodei::core
