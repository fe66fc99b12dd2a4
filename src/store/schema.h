// The schema of a store's database, and how an older database becomes one of today. The same for every SQL backend:
// what it needs of a database is SqlDatabase.
//
// The tables of row types are made from their descriptors. A table that a database does not have yet is created when it
// is opened, so a new row type needs no migration; a table that this binary does not know is of a newer one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/core/rows/columns.h"
#include "src/store/sql.h"
#include "src/store/tables.h"

namespace hodei::store {

inline constexpr int kSchemaVersion = 6;

// Runs the statement once, with the parameters that `fill` writes.
using RunWith = std::function<absl::Status(const std::function<void(core::RowOut&)>& fill)>;
using RewriteRow = std::function<absl::Status(core::RowIn& row, const RunWith& insert)>;

// One database, inside a transaction of the caller.
class SqlDatabase {
 public:
  virtual ~SqlDatabase() = default;
  virtual const Dialect& dialect() const = 0;
  virtual std::string name() const = 0;  // as people know it
  virtual absl::Status run(const std::string& sql) = 0;
  virtual absl::StatusOr<int64_t> ask_integer(const std::string& sql) = 0;
  virtual absl::StatusOr<std::vector<std::string>> tables() = 0;
  // Gives every row that `select` finds to `rewrite`, with a way to run `insert`.
  virtual absl::Status rewrite(const std::string& select, const std::string& insert, const RewriteRow& rewrite) = 0;
};

// Steps of a migration. What they say is written out and never changed again, whatever becomes of a table later.
struct CreateTable {
  Table table;  // with its indexes
};
struct CreateIndex {
  std::string_view table;
  Index index;
};
struct RunSql {
  std::string_view sql;  // the same in every dialect
};
// What SQL cannot say.
struct RewriteRows {
  std::string_view select;
  Table into;
  RewriteRow rewrite;
};
using MigrationStep = std::variant<CreateTable, CreateIndex, RunSql, RewriteRows>;

struct Migration {
  int to = 0;  // the version that it leads to
  std::vector<MigrationStep> steps;
};

struct Schema {
  int version = kSchemaVersion;
  std::vector<const Table*> tables;
  std::vector<Migration> migrations;  // by growing version
};

Schema current_schema();

// A new database gets all tables at once; an older one goes step by step; one of a newer binary is refused, because
// this one could not keep its promises.
absl::Status bring_up_to_date(SqlDatabase& db, const Schema& schema);

}  // namespace hodei::store
