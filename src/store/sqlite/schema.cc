#include "src/store/sqlite/schema.h"

#include <string>
#include <vector>

#include "src/base/status.h"

namespace hodei::store {
namespace {

class SqliteDatabase final : public SqlDatabase {
 public:
  explicit SqliteDatabase(Connection& db) : db_(db) {}

  const Dialect& dialect() const override { return kSqlite; }
  std::string name() const override { return sqlite3_db_filename(db_.raw(), "main"); }
  absl::Status run(const std::string& sql) override { return db_.run(sql); }
  absl::StatusOr<int64_t> ask_integer(const std::string& sql) override { return db_.ask_integer(sql); }

  absl::StatusOr<std::vector<std::string>> tables() override {
    ASSIGN_OR_RETURN(Statement names, db_.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT "
                                                  "LIKE 'sqlite\\_%' ESCAPE '\\'"));
    std::vector<std::string> out;
    while (true) {
      ASSIGN_OR_RETURN(const bool found, names.step());
      if (!found) return out;
      out.emplace_back(names.text());
    }
  }

  absl::Status rewrite(const std::string& select, const std::string& insert, const RewriteRow& rewrite) override {
    ASSIGN_OR_RETURN(Statement rows, db_.prepare(select));
    ASSIGN_OR_RETURN(Statement statement, db_.prepare(insert));
    const RunWith run_with = [&statement](const std::function<void(RowOut&)>& fill) {
      fill(statement);
      return statement.run().status();
    };
    while (true) {
      ASSIGN_OR_RETURN(const bool found, rows.step());
      if (!found) return absl::OkStatus();
      RETURN_IF_ERROR(rewrite(rows, run_with));
    }
  }

 private:
  Connection& db_;
};

}  // namespace

absl::Status bring_up_to_date(Connection& db, const Schema& schema) {
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::write(db));
  SqliteDatabase database(db);
  RETURN_IF_ERROR(bring_up_to_date(database, schema));
  return transaction.commit();
}

}  // namespace hodei::store
