#include "src/store/sqlite/checkpointer.h"

#include "src/base/status.h"

namespace hodei::store {

absl::Status Checkpointer::start() {
  ASSIGN_OR_RETURN(Connection db, Connection::open({.path = options_.path(), .vfs = options_.vfs}));
  RETURN_IF_ERROR(db.run(options_.sync ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = OFF"));
  // It never waits for a reader while it holds the commits' turn: what a reader still needs is left for the next time.
  sqlite3_busy_timeout(db.raw(), 0);
  db_.emplace(std::move(db));
  stopping_ = false;
  thread_ = std::thread([this] { work(); });
  return absl::OkStatus();
}

void Checkpointer::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
  db_.reset();
}

void Checkpointer::log_has(size_t bytes) {
  if (bytes < options_.checkpoint_bytes) return;
  {
    const std::lock_guard lock(mutex_);
    wanted_ = true;
  }
  wake_.notify_one();
}

void Checkpointer::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return wanted_ || stopping_; });
    if (stopping_) return;
    wanted_ = false;
    lock.unlock();
    checkpoint();
    lock.lock();
  }
}

// Errors are not lost: the log keeps everything, the next commit asks again, and a disk that is full fails commits too.
void Checkpointer::checkpoint() {
  // Nearly all of the work, beside commits that go on.
  sqlite3_wal_checkpoint_v2(db_->raw(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  // What was committed meanwhile, without new commits: now the next one starts the log from its beginning.
  const std::lock_guard no_commits(turn_);
  sqlite3_wal_checkpoint_v2(db_->raw(), nullptr, SQLITE_CHECKPOINT_FULL, nullptr, nullptr);
}

}  // namespace hodei::store
