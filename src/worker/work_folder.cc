#include "src/worker/work_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "src/base/status.h"
#include "src/worker/secret_files.h"

namespace hodei::worker {
namespace {

namespace fs = std::filesystem;

}  // namespace

absl::StatusOr<std::unique_ptr<WorkFolder>> WorkFolder::make(std::string path) {
  std::unique_ptr<WorkFolder> folder(new WorkFolder(std::move(path)));
  RETURN_IF_ERROR(folder->clean());
  return folder;
}

absl::Status WorkFolder::clean() {
  if (!secrets_.empty()) drop_secret_files(secrets_);
  std::error_code failed;
  for (fs::directory_iterator it(path_, failed), end; !failed && it != end; it.increment(failed)) {
    if (it->path() == cwd_) continue;
    fs::remove_all(it->path(), failed);
  }
  failed.clear();
  for (fs::directory_iterator it(cwd_, failed), end; !failed && it != end; it.increment(failed)) {
    std::error_code stuck;
    fs::remove_all(it->path(), stuck);
    if (stuck) return absl::InternalError(cat("cleaning ", it->path().string(), ": ", stuck.message()));
  }
  failed.clear();
  fs::create_directories(cwd_, failed);
  if (failed) return absl::InternalError(cat("making ", cwd_, ": ", failed.message()));
  // Sealed with a modification time that no change leaves as it is, and the change time that cannot be set back.
  const timespec epoch[2] = {};
  struct stat info {};
  // It may have belonged to the user of a sandbox.
  if (chown(cwd_.c_str(), geteuid(), getegid()) != 0 || chmod(cwd_.c_str(), 0700) != 0 || utimensat(AT_FDCWD, cwd_.c_str(), epoch, 0) != 0 ||
      stat(cwd_.c_str(), &info) != 0) {
    return absl::ErrnoToStatus(errno, "preparing " + cwd_);
  }
  seal_ = info.st_ctim;
  has_files_ = false;
  secrets_.clear();
  return absl::OkStatus();
}

bool WorkFolder::is_untouched() const {
  struct stat info {};
  if (has_files_ || !secrets_.empty() || lstat(cwd_.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return false;
  return info.st_mtim.tv_sec == 0 && info.st_mtim.tv_nsec == 0 && info.st_ctim.tv_sec == seal_.tv_sec &&
         info.st_ctim.tv_nsec == seal_.tv_nsec;
}

}  // namespace hodei::worker
