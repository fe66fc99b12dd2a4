#include "src/server/storage.h"

#include <sys/stat.h>

#include <filesystem>

#include "src/base/status.h"
#include "src/server/order_writer.h"
#include "src/store/sqlite/sqlite_reader.h"

namespace hodei::server {
namespace {

constexpr Duration kSaveClockEvery = 10s;

}  // namespace

// The retention clock comes first: it looks at the folder before the store is opened, which writes to it.
Storage::Storage(const std::string& data_dir, const Clock& clock, uint64_t disk_reserve)
    : clock_(clock), retention_clock_(data_dir, clock, RetentionClock::this_boot()), room_(disk_reserve) {}

absl::StatusOr<std::unique_ptr<Storage>> Storage::open(const std::string& data_dir, const Clock& clock,
                                                       uint64_t disk_reserve) {
  std::error_code error;
  std::filesystem::create_directories(data_dir, error);
  if (error) {
    return absl::InvalidArgumentError(
        cat("data_dir: cannot create '", data_dir, "': ", error.message(), "; choose another with --data-dir"));
  }
  chmod(data_dir.c_str(), 0700);
  std::unique_ptr<Storage> storage(new Storage(data_dir, clock, disk_reserve));
  store::SqliteOptions sqlite;
  sqlite.data_dir = data_dir;
  ASSIGN_OR_RETURN(storage->store_, store::SqliteStore::open(sqlite));
  StoreReaders& readers = storage->readers_;
  // One more than there are threads for what takes long, so that a single job is found at once meanwhile.
  ASSIGN_OR_RETURN(readers.lists, store::SqliteReader::open(sqlite, store::kMaxReadConnections + 1));
  ASSIGN_OR_RETURN(readers.lookups, store::SqliteReader::open(sqlite));
  ASSIGN_OR_RETURN(readers.orders, store::SqliteReader::open(sqlite, OrderWriter::kThreads));
  ASSIGN_OR_RETURN(readers.background, store::SqliteReader::open(sqlite));
  return storage;
}

absl::Status Storage::start() { return store_->start(); }

void Storage::stop() { store_->stop(); }

void Storage::tick() {
  if (const MonoTime now = clock_.now().mono; now >= next_save_) {
    next_save_ = now + kSaveClockEvery;
    retention_clock_.save();
  }
  room_.note(store_->free_bytes());
}

}  // namespace hodei::server
