// One SQLite connection and its statements, with errors as absl::Status. A connection is used by one thread at a time.
#pragma once

#include <sqlite3.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/store/rows.h"

namespace hodei::store {

// A prepared statement, kept and run many times: write the parameters in order, then run or step.
class Statement final : public RowOut, public RowIn {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* raw) : raw_(raw) {}
  Statement(Statement&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Statement& operator=(Statement&& other) noexcept;
  ~Statement() override { sqlite3_finalize(raw_); }

  void integer(int64_t value) override { sqlite3_bind_int64(raw_, ++bound_, value); }
  void real(double value) override { sqlite3_bind_double(raw_, ++bound_, value); }
  void text(std::string_view value) override;
  void bytes(std::string_view value) override;
  void packed(std::string&& value) override;
  void null() override { sqlite3_bind_null(raw_, ++bound_); }

  // To the next row: true if there is one. Reading starts at its first column.
  absl::StatusOr<bool> step();
  int64_t integer() override { return sqlite3_column_int64(raw_, read_++); }
  double real() override { return sqlite3_column_double(raw_, read_++); }
  std::string_view text() override;
  std::string_view bytes() override;
  size_t last_size() const {
    return static_cast<size_t>(sqlite3_column_bytes(raw_, sqlite3_column_count(raw_) - 1));
  }  // of the last column
  bool next_is_null() const override { return sqlite3_column_type(raw_, read_) == SQLITE_NULL; }

  // Runs it to its end and makes it ready for the next parameters. Gives the number of rows changed.
  absl::StatusOr<int> run();
  // SQLITE_DONE or an error code; for callers that know what a constraint means.
  int run_raw();
  void reset();

 private:
  absl::Status error() const;
  void restart_columns() { read_ = 0; }

  // Parameters that were made for this run live here until it is over. More than these are copied by SQLite.
  static constexpr size_t kKept = 4;

  sqlite3_stmt* raw_ = nullptr;
  int bound_ = 0;
  int read_ = 0;
  size_t kept_used_ = 0;
  std::array<std::string, kKept> kept_;
};

// Gives a statement back for its next use, also when the caller leaves early.
class InUse {
 public:
  explicit InUse(Statement& statement) : statement_(statement) {}
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;
  ~InUse() { statement_.reset(); }

 private:
  Statement& statement_;
};

struct ConnectionOptions {
  std::string path;
  std::string vfs;  // empty: the system's
  bool read_only = false;
};

class Connection {
 public:
  static absl::StatusOr<Connection> open(const ConnectionOptions& options);

  absl::StatusOr<Statement> prepare(std::string_view sql);
  absl::Status run(const std::string& sql);
  absl::StatusOr<int64_t> ask_integer(std::string_view sql);  // first column of the first row; 0 if there is none

  bool in_transaction() const { return sqlite3_get_autocommit(db_.get()) == 0; }
  int changes() const { return sqlite3_changes(db_.get()); }
  sqlite3* raw() { return db_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  explicit Connection(sqlite3* db) : db_(db) {}
  std::unique_ptr<sqlite3, Close> db_;
};

// While it lives, statements of the connection end with CANCELLED soon after `is_cancelled` says so. Null: never.
class Cancellable {
 public:
  Cancellable(Connection& db, const std::function<bool()>& is_cancelled);
  Cancellable(const Cancellable&) = delete;
  Cancellable& operator=(const Cancellable&) = delete;
  ~Cancellable();

 private:
  Connection& db_;
};

// A transaction that is rolled back unless committed.
class Transaction {
 public:
  static absl::StatusOr<Transaction> write(Connection& db);  // takes the write lock now, not at the first write
  static absl::StatusOr<Transaction> read(Connection& db);   // one snapshot
  Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  absl::Status commit();

 private:
  explicit Transaction(Connection& db) : db_(&db) {}
  Connection* db_;
};

// The current error of a connection, with a message that says what to do.
absl::Status sqlite_error(sqlite3* db, int code);

}  // namespace hodei::store
