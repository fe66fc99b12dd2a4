#include "src/store/sql.h"

#include "src/base/text.h"

namespace hodei::store {
namespace {

std::string_view type_name(ColumnType type, const Dialect& dialect) {
  switch (type) {
    case ColumnType::Int: return dialect.integer;
    case ColumnType::Real: return dialect.real;
    case ColumnType::Text: return dialect.text;
    case ColumnType::Bytes: return dialect.bytes;
  }
  return "";
}

std::string key_condition(const Table& table, const Dialect& dialect, size_t given) {
  std::string out;
  for (size_t i = 0; i < given; ++i) {
    out += cat(i == 0 ? "" : " AND ", table.columns[i].name, " = ", parameter(i + 1, dialect));
  }
  return out;
}

std::string key_condition(const Table& table, const Dialect& dialect) {
  return key_condition(table, dialect, table.key_columns);
}

std::string guarded(std::string condition, std::string_view guard) {
  return guard.empty() ? condition : cat(condition, " AND ", guard);
}

}  // namespace

std::string parameter(size_t number, const Dialect& dialect) { return cat(dialect.parameter, number); }

std::string key_list(const Table& table, std::string_view after) {
  std::string out;
  for (const Column& column : table.columns.first(table.key_columns)) {
    out += cat(out.empty() ? "" : ", ", column.name, after);
  }
  return out;
}

std::vector<std::string> create_sql(const Table& table, const Dialect& dialect) {
  // SQLite stores a table with one integer key by that key; all others get there with WITHOUT ROWID.
  const bool by_number = table.key_columns == 1 && table.columns[0].type == ColumnType::Int;
  std::string sql = cat("CREATE TABLE ", table.name, " (");
  for (const Column& column : table.columns) {
    sql += cat(column.name, " ", type_name(column.type, dialect));
    if (by_number && &column == &table.columns[0]) sql += " PRIMARY KEY";
    sql += column.nullable ? ", " : " NOT NULL, ";
  }
  if (!by_number) sql += cat("PRIMARY KEY (", key_list(table), "), ");
  if (!table.check.empty()) sql += cat("CHECK (", table.check, "), ");
  sql.resize(sql.size() - 2);
  sql += ")";
  sql += by_number ? dialect.by_number : dialect.by_key;

  std::vector<std::string> out = {std::move(sql)};
  for (const Index& index : table.indexes) out.push_back(create_index_sql(table.name, index));
  return out;
}

std::string create_index_sql(std::string_view table, const Index& index) {
  return cat("CREATE INDEX ", index.name, " ON ", table, " (", index.columns, ")");
}

std::string insert_sql(const Table& table, const Dialect& dialect) {
  std::string values;
  for (size_t i = 1; i <= table.columns.size(); ++i) values += cat(i == 1 ? "" : ", ", parameter(i, dialect));
  return cat("INSERT INTO ", table.name, " (", column_list(table), ") VALUES (", values, ")");
}

std::string upsert_sql(const Table& table, const Dialect& dialect) {
  std::string sets;
  for (const Column& column : table.columns.subspan(table.key_columns)) {
    sets += cat(sets.empty() ? "" : ", ", column.name, " = excluded.", column.name);
  }
  return cat(insert_sql(table, dialect), " ON CONFLICT (", key_list(table), ") DO ",
             sets.empty() ? "NOTHING" : cat("UPDATE SET ", sets));
}

std::string update_sql(const Table& table, const Dialect& dialect, std::string_view guard) {
  std::string sets;
  for (size_t i = table.key_columns; i < table.columns.size(); ++i) {
    sets += cat(sets.empty() ? "" : ", ", table.columns[i].name, " = ", parameter(i + 1, dialect));
  }
  return cat("UPDATE ", table.name, " SET ", sets, " WHERE ", guarded(key_condition(table, dialect), guard));
}

std::string delete_sql(const Table& table, const Dialect& dialect, std::string_view guard) {
  return cat("DELETE FROM ", table.name, " WHERE ", guarded(key_condition(table, dialect), guard));
}

std::string select_sql(const Table& table, std::string_view rest) {
  return cat("SELECT ", column_list(table), " FROM ", table.name, rest.empty() ? "" : " ", rest);
}

std::string select_by_key_sql(const Table& table, const Dialect& dialect) {
  return select_sql(table, cat("WHERE ", key_condition(table, dialect)));
}

std::string list_sql(const Table& table, const Dialect& dialect, size_t given) {
  const std::string condition = given == 0 ? "" : cat("WHERE ", key_condition(table, dialect, given), " ");
  return select_sql(table, cat(condition, "ORDER BY ", key_list(table)));
}

std::string column_list(const Table& table, std::string_view prefix) {
  std::string out;
  for (const Column& column : table.columns) out += cat(out.empty() ? "" : ", ", prefix, column.name);
  return out;
}

}  // namespace hodei::store
