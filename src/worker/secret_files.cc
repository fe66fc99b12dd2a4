#include "src/worker/secret_files.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "src/base/status.h"
#include "src/worker/fd.h"

namespace hodei::worker {
namespace {

constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
// 64 files of one page each at least, and 64 KiB of values.
constexpr const char* kOptions = "mode=0700,size=1m,nr_inodes=256";
constexpr const char* kNeverSwapped = "mode=0700,size=1m,nr_inodes=256,noswap";

absl::Status mount_tmpfs(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return absl::ErrnoToStatus(errno, "making " + folder);
  for (const char* options : {kNeverSwapped, kOptions}) {   // older kernels do not know the first
    if (mount("hodei-secrets", folder.c_str(), "tmpfs", kFlags, options) == 0) return absl::OkStatus();
  }
  return absl::PermissionDeniedError(cat("secret_files: this worker may not mount a tmpfs (", strerror(errno),
                                         "), and secrets are never written to a disk; run the worker as root, or let the job "
                                         "read its secrets from standard input"));
}

absl::Status write_secret(const std::string& path, const std::string& content, uid_t owner) {
  const Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400));
  const bool written = fd.is_open() && write(fd.get(), content.data(), content.size()) == static_cast<ssize_t>(content.size()) &&
                       fchown(fd.get(), owner, static_cast<gid_t>(-1)) == 0;
  return written ? absl::OkStatus() : absl::ErrnoToStatus(errno, "secret_files: writing " + path);
}

absl::Status fill(const std::string& folder, const std::vector<Program::File>& files, uid_t owner) {
  for (const Program::File& file : files) RETURN_IF_ERROR(write_secret(cat(folder, "/", file.name), file.content, owner));
  if (chown(folder.c_str(), owner, static_cast<gid_t>(-1)) != 0) return absl::ErrnoToStatus(errno, "secret_files: " + folder);
  return absl::OkStatus();
}

}  // namespace

absl::Status put_secret_files(const std::string& folder, const std::vector<Program::File>& files, uid_t owner) {
  RETURN_IF_ERROR(mount_tmpfs(folder));
  const absl::Status filled = fill(folder, files, owner);
  if (!filled.ok()) drop_secret_files(folder);
  return filled;
}

void drop_secret_files(const std::string& folder) { umount2(folder.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW); }

void drop_all_secret_files(const std::string& root) {
  std::error_code failed;
  for (std::filesystem::directory_iterator it(root, failed), end; !failed && it != end; it.increment(failed)) {
    const std::string folder = secrets_folder(it->path().string());
    while (umount2(folder.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) {
    }
  }
}

}  // namespace hodei::worker
