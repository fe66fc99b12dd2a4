#include "src/store/sqlite/server_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/base/status.h"

namespace hodei::store {

absl::StatusOr<ServerLock> ServerLock::take(const std::string& data_dir) {
  const std::string path = cat(data_dir, "/server.lock");
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    return absl::FailedPreconditionError(cat("cannot open ", path, ": ", std::strerror(errno),
                                             "; the data folder must exist and be owned by this user"));
  }
  ServerLock lock(fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return absl::UnavailableError(cat("cannot lock ", path, ": ", std::strerror(errno)));
  return absl::FailedPreconditionError(cat("another server is using this data folder: ", path,
                                           " is locked; stop that server, or use another folder with --data-dir"));
}

ServerLock::~ServerLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace hodei::store
