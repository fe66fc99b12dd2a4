// SQL made from the description of a table. Parameters are numbered like the columns (1 is the first), so that a row is
// bound in one way whatever is done with it; further parameters of a statement come after the last column.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/store/tables.h"

namespace hodei::store {

enum class Dialect : uint8_t { Sqlite, Postgres };

std::string parameter(size_t number, Dialect dialect);  // ?3 or $3

std::vector<std::string> create_sql(const Table& table, Dialect dialect);  // the table, then its indexes
std::string insert_sql(const Table& table, Dialect dialect);               // fails if the key is there
std::string upsert_sql(const Table& table, Dialect dialect);
std::string update_sql(const Table& table, Dialect dialect, std::string_view guard);       // by key; guard: more SQL
std::string delete_sql(const Table& table, Dialect dialect, std::string_view guard = {});  // by key
std::string select_sql(const Table& table, std::string_view rest);  // all columns; rest: WHERE, ORDER BY, …
std::string select_by_key_sql(const Table& table, Dialect dialect);

// `h.job, h.ns, …`
std::string column_list(const Table& table, std::string_view prefix = {});

}  // namespace hodei::store
