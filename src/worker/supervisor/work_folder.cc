#include "src/worker/supervisor/work_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "src/base/folder_tree.h"
#include "src/base/status.h"
#include "src/worker/supervisor/secret_files.h"
#include "src/worker/system/journal.h"

namespace hodei::worker {
namespace {

constexpr mode_t kPassable = 0755;  // the user of a sandbox walks through to its working folder

// Modification times are set to the epoch, which no change leaves as it is; change times cannot be set back by anybody.
absl::Status seal(int folder, mode_t mode, struct stat& info) {
  const timespec epoch[2] = {};
  if (fchmod(folder, mode) == 0 && futimens(folder, epoch) == 0 && fstat(folder, &info) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, "preparing a working folder");
}

bool leads_to(const std::string& path, const struct stat& folder) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 && info.st_dev == folder.st_dev && info.st_ino == folder.st_ino;
}

bool is_as_sealed(const std::string& path, const struct stat& seal) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return false;
  const bool same_folder = info.st_dev == seal.st_dev && info.st_ino == seal.st_ino && info.st_mode == seal.st_mode &&
                           info.st_uid == seal.st_uid && info.st_gid == seal.st_gid;
  return same_folder && info.st_mtim.tv_sec == 0 && info.st_mtim.tv_nsec == 0 &&
         info.st_ctim.tv_sec == seal.st_ctim.tv_sec && info.st_ctim.tv_nsec == seal.st_ctim.tv_nsec;
}

}  // namespace

absl::Status WorkFolder::clean() {
  if (!secrets_.empty()) drop_secret_files(secrets_);
  RETURN_IF_ERROR(remove_tree(all_->get(), name_));
  return make();
}

// All new, the outer folder too: access lists that a job set on it would pass to what the next job makes there.
absl::Status WorkFolder::make() {
  if (mkdirat(all_->get(), name_.c_str(), kPassable) != 0) return absl::ErrnoToStatus(errno, "making " + path_);
  const Fd own(open_folder(all_->get(), name_));
  if (!own.is_open()) return absl::ErrnoToStatus(errno, "opening " + path_);
  if (mkdirat(own.get(), "cwd", S_IRWXU) != 0) return absl::ErrnoToStatus(errno, "making " + cwd_);
  const Fd inner(open_folder(own.get(), "cwd"));
  if (!inner.is_open()) return absl::ErrnoToStatus(errno, "opening " + cwd_);
  RETURN_IF_ERROR(seal(inner.get(), S_IRWXU, cwd_seal_));
  RETURN_IF_ERROR(seal(own.get(), kPassable, path_seal_));
  has_files_ = false;
  secrets_.clear();
  // Jobs and sandboxes are given the path: it must still lead here, whatever the clock says.
  if (leads_to(path_, path_seal_) && leads_to(cwd_, cwd_seal_)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      cat(path_, " is not the folder that was created there; was the state folder moved?"));
}

bool WorkFolder::is_untouched() const {
  return !has_files_ && secrets_.empty() && is_as_sealed(path_, path_seal_) && is_as_sealed(cwd_, cwd_seal_);
}

absl::StatusOr<WorkFolders> WorkFolders::make(std::string path) {
  drop_all_secret_files(path);
  if (absl::Status removed = remove_tree(path); !removed.ok()) {
    say("some files of earlier jobs could not be removed: ", std::string(removed.message()));
  }
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  Fd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.is_open()) return absl::ErrnoToStatus(errno, "opening " + path);
  return WorkFolders(std::move(path), std::move(folder));
}

absl::StatusOr<std::unique_ptr<WorkFolder>> WorkFolders::next() {
  std::unique_ptr<WorkFolder> folder(new WorkFolder(folder_, path_, std::to_string(made_++)));
  RETURN_IF_ERROR(folder->clean());
  return folder;
}

}  // namespace hodei::worker
