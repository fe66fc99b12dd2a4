// A row that is stored, described once beside its struct: table, key, columns. Everything that a store does with a row
// (its table, put, erase, load, copies in memory, samples for tests) is made from this.
//
//   template <>
//   struct RowType<OtpRow> : RowDefaults {
//     static constexpr std::string_view table = "otp";
//     static constexpr auto columns = std::tuple(column::key("token", &OtpRow::token), …);
//   };
//
// A module lists its rows and its other verbs (`FleetRows`, `FleetVerbs`); writes.h joins the lists of all modules.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "src/core/rows/columns.h"

namespace hodei::core {

struct Index {
  std::string_view name;
  std::string_view columns;
};

// How rows of a type change. Some have further verbs of their own.
enum class Writing : uint8_t {
  PutAndErase,  // put (inserted or replaced) and erased by key
  PutOnly,      // never erased by key alone
  Once,         // inserted once, never replaced, never erased by key
};

// Which rows a restart needs.
enum class Loading : uint8_t { All, LastKeyOnly };

// What a descriptor need not say.
struct RowDefaults {
  static constexpr std::string_view check = {};  // the guard that the database repeats
  static constexpr std::span<const Index> indexes = {};
  static constexpr Writing writing = Writing::PutAndErase;
  static constexpr Loading loading = Loading::All;    // by growing key
  static constexpr std::nullptr_t load_by = nullptr;  // or a member: its greatest value comes first, then by key
};

template <class Row>
struct RowType;

// Calls `f(column)` for every column, in order.
template <class Row, class F>
constexpr void each_column(F&& f) {
  std::apply([&](const auto&... one) { (f(one), ...); }, RowType<Row>::columns);
}

template <class Row>
inline constexpr size_t column_count = std::tuple_size_v<std::remove_cvref_t<decltype(RowType<Row>::columns)>>;

// The values of the key columns: the value itself, a pair, or a tuple.
namespace key_detail {

template <class Column>
auto key_part(const Column&) {
  if constexpr (Column::is_key) {
    return std::tuple<typename Column::Value>();
  } else {
    return std::tuple<>();
  }
}

template <class Tuple>
struct Simplest {
  using Type = Tuple;
};
template <class One>
struct Simplest<std::tuple<One>> {
  using Type = One;
};
template <class One, class Two>
struct Simplest<std::tuple<One, Two>> {
  using Type = std::pair<One, Two>;
};

template <class Columns>
struct KeyType;
template <class... Column>
struct KeyType<std::tuple<Column...>> {
  using Type = typename Simplest<decltype(std::tuple_cat(key_part(std::declval<const Column&>())...))>::Type;
};

}  // namespace key_detail

template <class Row>
using KeyOf = typename key_detail::KeyType<std::remove_cvref_t<decltype(RowType<Row>::columns)>>::Type;

template <class Row>
constexpr size_t key_column_count() {
  size_t count = 0;
  each_column<Row>([&](const auto& column) { count += column.is_key ? 1 : 0; });
  return count;
}

template <class Row>
KeyOf<Row> key_of(const Row& row) {
  const auto part = [&row](const auto& column) {
    if constexpr (std::remove_cvref_t<decltype(column)>::is_key) {
      return std::tuple(std::invoke(column.access, row));
    } else {
      return std::tuple<>();
    }
  };
  const auto parts =
      std::apply([&](const auto&... column) { return std::tuple_cat(part(column)...); }, RowType<Row>::columns);
  return std::make_from_tuple<KeyOf<Row>>(parts);
}

template <class Row, class Out>
void write_row(const Row& row, Out& out) {
  each_column<Row>([&](const auto& column) { column.write(row, out); });
}

template <class Row, class In>
Row read_row(In& in) {
  Row row;
  each_column<Row>([&](const auto& column) { column.read(row, in); });
  return row;
}

template <class Row, class Out>
void write_key(const KeyOf<Row>& key, Out& out) {
  if constexpr (key_column_count<Row>() == 1) {
    StoredAs<KeyOf<Row>>::write(key, out);
  } else {
    std::apply([&](const auto&... part) { (StoredAs<std::remove_cvref_t<decltype(part)>>::write(part, out), ...); },
               key);
  }
}

// The two verbs that every row has. A row is shared: the store and memory get the same object.
template <class Row>
struct Put {
  explicit Put(Row value) : row(std::make_shared<const Row>(std::move(value))) {}
  explicit Put(std::shared_ptr<const Row> shared) : row(std::move(shared)) {}

  std::shared_ptr<const Row> row;
};

template <class Row>
struct Erase {
  KeyOf<Row> key;  // a row with it need not exist
};

template <class... T>
struct TypeList {};

namespace list_detail {

template <class... Lists>
struct Joined;
template <>
struct Joined<> {
  using Type = TypeList<>;
};
template <class... T>
struct Joined<TypeList<T...>> {
  using Type = TypeList<T...>;
};
template <class... A, class... B, class... More>
struct Joined<TypeList<A...>, TypeList<B...>, More...> {
  using Type = typename Joined<TypeList<A..., B...>, More...>::Type;
};

template <class Row, Writing kWriting = RowType<Row>::writing>
struct VerbsOf {
  using Type = TypeList<Put<Row>>;
};
template <class Row>
struct VerbsOf<Row, Writing::PutAndErase> {
  using Type = TypeList<Put<Row>, Erase<Row>>;
};

template <class Rows>
struct AllVerbs;
template <class... Row>
struct AllVerbs<TypeList<Row...>> {
  using Type = typename Joined<typename VerbsOf<Row>::Type...>::Type;
};

template <template <class...> class To, class List>
struct Converted;
template <template <class...> class To, class... T>
struct Converted<To, TypeList<T...>> {
  using Type = To<T...>;
};

}  // namespace list_detail

template <class... Lists>
using JoinedLists = typename list_detail::Joined<Lists...>::Type;

// Put and Erase of every row of a list.
template <class Rows>
using RowVerbs = typename list_detail::AllVerbs<Rows>::Type;

template <template <class...> class To, class List>
using ListAs = typename list_detail::Converted<To, List>::Type;

template <class... T>
constexpr size_t list_size(TypeList<T...>) {
  return sizeof...(T);
}

// Calls `f(std::type_identity<T>)` for every type, in order.
template <class... T, class F>
constexpr void each_type(TypeList<T...>, F&& f) {
  (f(std::type_identity<T>{}), ...);
}

template <class T, class List>
inline constexpr bool is_in_list = false;
template <class T, class... Others>
inline constexpr bool is_in_list<T, TypeList<Others...>> = (std::is_same_v<T, Others> || ...);

}  // namespace hodei::core
