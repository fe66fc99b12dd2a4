#include "src/store/sqlite/checkpointer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "src/base/status.h"

namespace hodei::store {
namespace {

// Room for the log is made in steps; a commit waits for one at most.
constexpr size_t kReserveStep = size_t{1} << 20;
// Unless the disk has this many times as much, the log grows as it will.
constexpr uint64_t kEnoughRoom = 20;

bool has_room(int fd, size_t bytes) {
  struct statvfs disk {};
  return ::fstatvfs(fd, &disk) == 0 && uint64_t{disk.f_bavail} * disk.f_frsize > kEnoughRoom * bytes;
}

}  // namespace

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

// A sync of a file that grows waits for the file system's own journal as well, which costs as much again and more when
// others write to the disk. So the log's file gets its length at once: zeros behind the log's end are no frames, and
// are written over. Only for speed, so a failure is nobody's concern.
void Checkpointer::reserve_log() {
  if (!options_.vfs.empty()) return;
  const int fd = ::open((options_.path() + "-wal").c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  const std::string zeros(kReserveStep, '\0');
  for (bool more = has_room(fd, options_.checkpoint_bytes); more;) {
    const std::lock_guard no_commits(turn_);
    struct stat file {};
    more = ::fstat(fd, &file) == 0 && static_cast<size_t>(file.st_size) < options_.checkpoint_bytes &&
           ::pwrite(fd, zeros.data(), zeros.size(), file.st_size) == static_cast<ssize_t>(zeros.size());
  }
  ::fdatasync(fd);
  ::close(fd);
}

void Checkpointer::work() {
  reserve_log();
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
