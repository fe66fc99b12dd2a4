// SQL made from the description of a table. Parameters are numbered like the columns (1 is the first), so that a row is
// bound in one way whatever is done with it; further parameters of a statement come after the last column.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "src/core/rows/row.h"
#include "src/store/tables.h"

namespace hodei::store {

// Differences between databases. An upsert has the same syntax in both.
struct Dialect {
  std::string_view integer;
  std::string_view real;
  std::string_view text;
  std::string_view bytes;
  std::string_view parameter;  // what comes before its number
  // What follows the definition of a table, whose rows are stored by their number, or by another key.
  std::string_view by_number;
  std::string_view by_key;
};

inline constexpr Dialect kSqlite{
    "INTEGER", "REAL", "TEXT", "BLOB", "?", " STRICT", " STRICT, WITHOUT ROWID",
};
// TEXT of PostgreSQL refuses NUL and broken UTF-8.
inline constexpr Dialect kPostgres{"BIGINT", "DOUBLE PRECISION", "BYTEA", "BYTEA", "$", "", ""};

std::string parameter(size_t number, const Dialect& dialect);  // ?3 or $3

std::vector<std::string> create_sql(const Table& table, const Dialect& dialect);  // the table, then its indexes
std::string create_index_sql(std::string_view table, const Index& index);
std::string insert_sql(const Table& table, const Dialect& dialect);  // fails if the key is there
std::string upsert_sql(const Table& table, const Dialect& dialect);
std::string update_sql(const Table& table, const Dialect& dialect, std::string_view guard);  // by key; guard: more SQL
std::string delete_sql(const Table& table, const Dialect& dialect, std::string_view guard = {});  // by key
std::string select_sql(const Table& table, std::string_view rest);  // all columns; rest: WHERE, ORDER BY, …
std::string select_by_key_sql(const Table& table, const Dialect& dialect);
// Those whose first `given` key columns have these values, by growing key.
std::string list_sql(const Table& table, const Dialect& dialect, size_t given);
std::string key_list(const Table& table, std::string_view after = {});  // `ns, name`; after: " DESC"

// `h.job, h.ns, …`
std::string column_list(const Table& table, std::string_view prefix = {});

// Of a row type, by its descriptor.
template <class Row>
std::string put_sql(const Dialect& dialect) {
  const bool once = core::RowType<Row>::writing == core::Writing::Once;
  return once ? insert_sql(kTableOf<Row>, dialect) : upsert_sql(kTableOf<Row>, dialect);
}

// What a restart needs, in the order in which it needs it.
template <class Row>
std::string load_sql() {
  using Type = core::RowType<Row>;
  std::string order = "ORDER BY ";
  if constexpr (Type::loading == core::Loading::LastKeyOnly) {
    return select_sql(kTableOf<Row>, order + key_list(kTableOf<Row>, " DESC") + " LIMIT 1");
  } else {
    core::each_column<Row>([&](const auto& column) {
      if constexpr (std::is_same_v<decltype(column.access), std::remove_const_t<decltype(Type::load_by)>>) {
        if (column.access == Type::load_by) order.append(column.name).append(" DESC, ");
      }
    });
    return select_sql(kTableOf<Row>, order + key_list(kTableOf<Row>));
  }
}

}  // namespace hodei::store
