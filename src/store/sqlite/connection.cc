#include "src/store/sqlite/connection.h"

#include <cerrno>

#include "src/base/status.h"
#include "src/store/refusals.h"

namespace hodei::store {
namespace {

// Other connections of this process hold the write lock for a moment only (the end of a checkpoint).
constexpr int kBusyTimeoutMs = 10'000;
// Instructions of SQLite between two looks at whether a read is still wanted: well under a millisecond.
constexpr int kStepsBetweenLooks = 10'000;

std::string_view file_of(sqlite3* db) {
  const char* name = db == nullptr ? nullptr : sqlite3_db_filename(db, "main");
  return name == nullptr ? "the database" : name;
}

// SQLite takes a null pointer for SQL NULL; an empty view may have one.
const char* not_null(std::string_view value) { return value.data() == nullptr ? "" : value.data(); }

std::string message_of(const absl::Status& status) { return std::string(status.message()); }

}  // namespace

absl::Status sqlite_error(sqlite3* db, int code) {
  const std::string what = cat(file_of(db), ": ", db == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(db),
                               " (SQLite ", db == nullptr ? code : sqlite3_extended_errcode(db), ")");
  switch (code & 0xff) {
    case SQLITE_FULL:
      return absl::ResourceExhaustedError(cat("the disk is full, nothing was written; free some space: ", what));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::DataLossError(cat(
          "the database is damaged; restore it from a backup, or recover what you can with `sqlite3 FILE .recover`: ",
          what));
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      return absl::FailedPreconditionError(cat(
          "the database cannot be opened for writing; check that its folder exists and is owned by this user: ", what));
    case SQLITE_INTERRUPT: return nobody_waits();
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return absl::UnavailableError(cat("the database is locked by another process: ", what));
    case SQLITE_IOERR: {
      const bool no_room = db != nullptr && sqlite3_system_errno(db) == ENOSPC;
      if (no_room) return absl::ResourceExhaustedError(cat("the disk is full; free some space: ", what));
      return absl::UnavailableError(cat("disk I/O error: ", what));
    }
    default: return absl::InternalError(what);
  }
}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(raw_, other.raw_);
  return *this;
}

void Statement::text(std::string_view value) {
  sqlite3_bind_text64(raw_, ++bound_, not_null(value), value.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::bytes(std::string_view value) {
  sqlite3_bind_blob64(raw_, ++bound_, not_null(value), value.size(), SQLITE_STATIC);
}

void Statement::packed(std::string&& value) {
  if (kept_used_ == kKept) {
    sqlite3_bind_blob64(raw_, ++bound_, value.data(), value.size(), SQLITE_TRANSIENT);
  } else {
    bytes(kept_[kept_used_++] = std::move(value));
  }
}

absl::StatusOr<bool> Statement::step() {
  restart_columns();
  const int code = sqlite3_step(raw_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return error();
}

std::string_view Statement::text() {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(raw_, read_));
  return {data == nullptr ? "" : data, static_cast<size_t>(sqlite3_column_bytes(raw_, read_++))};
}

std::string_view Statement::bytes() {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(raw_, read_));
  return {data == nullptr ? "" : data, static_cast<size_t>(sqlite3_column_bytes(raw_, read_++))};
}

int Statement::run_raw() {
  int code = sqlite3_step(raw_);
  while (code == SQLITE_ROW) code = sqlite3_step(raw_);
  reset();
  return code;
}

absl::StatusOr<int> Statement::run() {
  const int code = run_raw();
  sqlite3* db = sqlite3_db_handle(raw_);
  if (code != SQLITE_DONE) return sqlite_error(db, code);
  return sqlite3_changes(db);
}

void Statement::reset() {
  sqlite3_reset(raw_);  // its result repeats that of the last step
  bound_ = 0;
  kept_used_ = 0;
}

absl::Status Statement::error() const {
  sqlite3* db = sqlite3_db_handle(raw_);
  return sqlite_error(db, sqlite3_errcode(db));
}

absl::StatusOr<Connection> Connection::open(const ConnectionOptions& options) {
  sqlite3* raw = nullptr;
  const int mode = options.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const char* vfs = options.vfs.empty() ? nullptr : options.vfs.c_str();
  const int code = sqlite3_open_v2(options.path.c_str(), &raw, mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs);
  Connection connection(raw);
  if (code != SQLITE_OK) return sqlite_error(raw, code);
  sqlite3_busy_timeout(raw, kBusyTimeoutMs);
  return connection;
}

absl::StatusOr<Statement> Connection::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int code =
      sqlite3_prepare_v3(db_.get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (code != SQLITE_OK) return sqlite_error(db_.get(), code);
  return Statement(raw);
}

absl::Status Connection::run(const std::string& sql) {
  const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : sqlite_error(db_.get(), code);
}

absl::StatusOr<int64_t> Connection::ask_integer(std::string_view sql) {
  ASSIGN_OR_RETURN(Statement statement, prepare(sql));
  ASSIGN_OR_RETURN(const bool found, statement.step());
  return found ? statement.integer() : 0;
}

Cancellable::Cancellable(Connection& db, const std::function<bool()>& is_cancelled) : db_(db) {
  if (!is_cancelled) return;
  const auto ask = [](void* asked) { return (*static_cast<const std::function<bool()>*>(asked))() ? 1 : 0; };
  sqlite3_progress_handler(db_.raw(), kStepsBetweenLooks, ask, const_cast<std::function<bool()>*>(&is_cancelled));
}

Cancellable::~Cancellable() { sqlite3_progress_handler(db_.raw(), 0, nullptr, nullptr); }

absl::StatusOr<Transaction> Transaction::write(Connection& db) {
  RETURN_IF_ERROR(db.run("BEGIN IMMEDIATE"));
  return Transaction(db);
}

absl::StatusOr<Transaction> Transaction::read(Connection& db) {
  RETURN_IF_ERROR(db.run("BEGIN"));
  return Transaction(db);
}

absl::Status Transaction::commit() {
  const absl::Status status = db_->run("COMMIT");
  if (status.ok()) {
    db_ = nullptr;
    return status;
  }
  // A failed sync may yet leave the whole transaction on the disk; only SQLITE_FULL is sure to leave nothing.
  const bool unknown = (sqlite3_errcode(db_->raw()) & 0xff) == SQLITE_IOERR;
  return unknown ? absl::UnavailableError(cat("whether a commit happened is unknown: ", message_of(status))) : status;
}

Transaction::~Transaction() {
  // Some errors (disk full, I/O) make SQLite roll back by itself.
  if (db_ != nullptr && db_->in_transaction()) db_->run("ROLLBACK").IgnoreError();
}

}  // namespace hodei::store
