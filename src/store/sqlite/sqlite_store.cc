#include "src/store/sqlite/sqlite_store.h"

#include <sys/statvfs.h>

#include "src/base/status.h"
#include "src/store/rows.h"
#include "src/store/sqlite/loader.h"
#include "src/store/sqlite/schema.h"

namespace hodei::store {
namespace {

constexpr int kPageBytes = 8192;
// The log file keeps at most this when it starts over, whatever a long reader once made of it.
constexpr int64_t kKeptLogBytes = int64_t{128} << 20;
constexpr int kCacheKib = 32 * 1024;

// SQLite does not fail where the log cannot be had (a network disk); it says so.
absl::Status use_log(Connection& db) {
  ASSIGN_OR_RETURN(Statement mode, db.prepare("PRAGMA journal_mode = WAL"));
  ASSIGN_OR_RETURN(const bool answered, mode.step());
  if (answered && mode.text() == "wal") return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the disk of the data folder cannot share memory between connections, which "
      "SQLite's write-ahead log requires; use a local disk");
}

absl::Status configure(Connection& db, const SqliteOptions& options) {
  RETURN_IF_ERROR(db.run(cat("PRAGMA page_size = ", kPageBytes)));
  RETURN_IF_ERROR(use_log(db));
  RETURN_IF_ERROR(db.run(options.sync ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = OFF"));
  RETURN_IF_ERROR(db.run("PRAGMA wal_autocheckpoint = 0"));
  RETURN_IF_ERROR(db.run(cat("PRAGMA journal_size_limit = ", kKeptLogBytes)));
  return db.run(cat("PRAGMA cache_size = -", kCacheKib));
}

int tell_checkpointer(void* checkpointer, sqlite3*, const char*, int log_pages) {
  static_cast<Checkpointer*>(checkpointer)->log_has(static_cast<size_t>(log_pages) * kPageBytes);
  return SQLITE_OK;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::open(const SqliteOptions& options) {
  ASSIGN_OR_RETURN(ServerLock lock, ServerLock::take(options.data_dir));
  ASSIGN_OR_RETURN(Connection db, Connection::open({.path = options.path(), .vfs = options.vfs}));
  std::unique_ptr<SqliteStore> store(new SqliteStore(options, std::move(lock), std::move(db)));
  RETURN_IF_ERROR(store->prepare());
  return store;
}

absl::Status SqliteStore::prepare() {
  RETURN_IF_ERROR(configure(db_, options_));
  RETURN_IF_ERROR(bring_up_to_date(db_, current_schema()));
  ASSIGN_OR_RETURN(BatchWriter writer, BatchWriter::prepare(db_));
  writer_.emplace(std::move(writer));
  // Guards and counters in one statement: it changes its row only for the epoch that leads and the batch that is next.
  ASSIGN_OR_RETURN(next_turn_, db_.prepare("UPDATE meta SET batch_no = ?2, next_job = coalesce(?3, next_job), "
                                           "scheduler = coalesce(?4, scheduler) "
                                           "WHERE id = 1 AND epoch = ?1 AND batch_no = ?2 - 1"));
  sqlite3_wal_hook(db_.raw(), &tell_checkpointer, &checkpointer_);
  return absl::OkStatus();
}

absl::StatusOr<Epoch> SqliteStore::new_epoch() {
  const std::lock_guard turn(turn_);
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::write(db_));
  RETURN_IF_ERROR(db_.run("UPDATE meta SET epoch = epoch + 1"));
  ASSIGN_OR_RETURN(const int64_t epoch, db_.ask_integer("SELECT epoch FROM meta"));
  RETURN_IF_ERROR(transaction.commit());
  return Epoch{static_cast<uint64_t>(epoch)};
}

absl::StatusOr<Epoch> SqliteStore::epoch() {
  const std::lock_guard turn(turn_);
  ASSIGN_OR_RETURN(const int64_t epoch, db_.ask_integer("SELECT epoch FROM meta"));
  return Epoch{static_cast<uint64_t>(epoch)};
}

absl::Status SqliteStore::commit(const core::Writes& writes, Epoch epoch, BatchNo batch) {
  RETURN_IF_ERROR(batch_.fold(writes));
  const std::lock_guard turn(turn_);
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::write(db_));
  RETURN_IF_ERROR(take_turn({epoch, batch}, batch_));
  RETURN_IF_ERROR(writer_->write(batch_));
  return transaction.commit();
}

absl::Status SqliteStore::take_turn(const Turn& given, const Batch& batch) {
  next_turn_.integer(static_cast<int64_t>(given.epoch));
  next_turn_.integer(static_cast<int64_t>(given.batch));
  batch.next_job() ? next_turn_.integer(static_cast<int64_t>(*batch.next_job())) : next_turn_.null();
  batch.scheduler() ? next_turn_.packed(pack(*batch.scheduler())) : next_turn_.null();
  ASSIGN_OR_RETURN(const int changed, next_turn_.run());
  if (changed == 1) return absl::OkStatus();
  ASSIGN_OR_RETURN(const int64_t epoch, db_.ask_integer("SELECT epoch FROM meta"));
  ASSIGN_OR_RETURN(const int64_t last, db_.ask_integer("SELECT batch_no FROM meta"));
  const Turn stored{Epoch{static_cast<uint64_t>(epoch)}, BatchNo{static_cast<uint64_t>(last)}};
  RETURN_IF_ERROR(check_turn(stored, given));
  return absl::InternalError("the table `meta` has lost its row");
}

absl::StatusOr<BatchNo> SqliteStore::last_batch() {
  ASSIGN_OR_RETURN(const int64_t last, db_.ask_integer("SELECT batch_no FROM meta"));
  return BatchNo{static_cast<uint64_t>(last)};
}

absl::Status SqliteStore::load(const LoadVisitor& visit) { return load_everything(db_, visit); }

absl::StatusOr<std::string> SqliteStore::installation() {
  ASSIGN_OR_RETURN(Statement ask, db_.prepare("SELECT installation FROM meta"));
  ASSIGN_OR_RETURN(const bool found, ask.step());
  return found ? std::string(ask.text()) : std::string();
}

absl::StatusOr<uint64_t> SqliteStore::free_bytes() const {
  struct statvfs disk {};
  if (::statvfs(options_.data_dir.c_str(), &disk) != 0) {
    return absl::UnavailableError(cat("cannot determine the free disk space of ", options_.data_dir));
  }
  return uint64_t{disk.f_bavail} * disk.f_frsize;
}

}  // namespace hodei::store
