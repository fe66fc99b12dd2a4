#include "src/worker/supervisor/secret_files.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "src/base/folder_tree.h"
#include "src/base/status.h"
#include "src/worker/system/fd.h"
#include "src/worker/system/shortage.h"
#include "src/worker/system/small_files.h"

namespace hodei::worker {
namespace {

constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
// 64 files of one page each at least, and 64 KiB of values.
constexpr const char* kOptions = "mode=0700,size=1m,nr_inodes=256";
constexpr const char* kNeverSwapped = "mode=0700,size=1m,nr_inodes=256,noswap";

// Empty: there is none, or what the variable names is on a disk.
const std::string& memory_folder() {
  static const std::string folder = [] {
    const char* named = std::getenv(kSecretsVariable);
    struct statfs info {};
    const bool in_memory =
        named != nullptr && statfs(named, &info) == 0 && (info.f_type == TMPFS_MAGIC || info.f_type == RAMFS_MAGIC);
    return std::string(in_memory ? named : "");
  }();
  return folder;
}

bool is_in_memory_folder(const std::string& folder) {
  return !memory_folder().empty() && folder.starts_with(memory_folder() + "/");
}

struct OpenPlace {
  Fd parent;
  std::string name;

  // A path to `name` that goes through the descriptor: nobody can lead it elsewhere. Without /proc there is only the
  // plain path.
  std::string path(const std::string& plain) const {
    const std::string through = cat("/proc/self/fd/", parent.get());
    return access(through.c_str(), F_OK) == 0 ? cat(through, "/", name) : plain;
  }
};

OpenPlace open_place(const std::string& folder) {
  const size_t slash = folder.rfind('/');
  return {Fd(open(folder.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)),
          folder.substr(slash + 1)};
}

absl::Status mount_tmpfs(const std::string& folder, const OpenPlace& place) {
  if (mkdirat(place.parent.get(), place.name.c_str(), 0700) != 0) return errno_status(errno, "making " + folder);
  if (is_in_memory_folder(folder)) return absl::OkStatus();
  const std::string path = place.path(folder);
  for (const char* options : {kNeverSwapped, kOptions}) {  // older kernels do not know the first
    if (mount("hodei-secrets", path.c_str(), "tmpfs", kFlags, options) == 0) return absl::OkStatus();
  }
  const int why = errno;
  unlinkat(place.parent.get(), place.name.c_str(), AT_REMOVEDIR);
  if (is_shortage(why)) return errno_status(why, "secret_files: mounting a tmpfs");
  return absl::PermissionDeniedError(
      cat("secret_files: this worker is not allowed to mount a tmpfs (", strerror(why),
          "), and secrets are never written to disk; run the worker as root, or let the job "
          "read its secrets from standard input"));
}

absl::Status write_secret(int folder, const Program::File& file, uid_t owner) {
  const Fd fd(openat(folder, file.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400));
  const std::string& content = file.content;
  if (fd.is_open()) errno = ENOSPC;  // what a write that is cut short means
  const bool written = fd.is_open() &&
                       write(fd.get(), content.data(), content.size()) == static_cast<ssize_t>(content.size()) &&
                       fchown(fd.get(), owner, static_cast<gid_t>(-1)) == 0;
  return written ? absl::OkStatus() : errno_status(errno, "secret_files: writing " + file.name);
}

absl::Status fill(const OpenPlace& place, const std::vector<Program::File>& files, uid_t owner) {
  const Fd tmpfs(openat(place.parent.get(), place.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!tmpfs.is_open()) return errno_status(errno, "secret_files: opening the tmpfs");
  for (const Program::File& file : files) RETURN_IF_ERROR(write_secret(tmpfs.get(), file, owner));
  if (fchown(tmpfs.get(), owner, static_cast<gid_t>(-1)) != 0)
    return absl::ErrnoToStatus(errno, "secret_files: giving the tmpfs");
  return absl::OkStatus();
}

}  // namespace

std::string secrets_folder(const std::string& private_folder) {
  if (memory_folder().empty()) return private_folder + "/secrets";
  std::string name = private_folder;
  std::replace(name.begin(), name.end(), '/', '_');
  return cat(memory_folder(), "/", name);
}

bool can_keep_secret_files() {
  if (!memory_folder().empty()) return true;
  constexpr int kSystemAdministration = 21;  // CAP_SYS_ADMIN
  const std::string status = read_file("/proc/self/status");
  const size_t at = status.find("CapEff:\t");
  return at != std::string::npos &&
         (std::strtoull(status.c_str() + at + 8, nullptr, 16) >> kSystemAdministration & 1) != 0;
}

absl::Status put_secret_files(const std::string& folder, const std::vector<Program::File>& files, uid_t owner) {
  const OpenPlace place = open_place(folder);
  if (!place.parent.is_open()) return errno_status(errno, "opening the folder of " + folder);
  RETURN_IF_ERROR(mount_tmpfs(folder, place));
  const absl::Status filled = fill(place, files, owner);
  if (!filled.ok()) drop_secret_files(folder);
  return filled;
}

void drop_secret_files(const std::string& folder) {
  if (is_in_memory_folder(folder)) return remove_tree(folder).IgnoreError();
  const OpenPlace place = open_place(folder);
  if (place.parent.is_open()) umount2(place.path(folder).c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
}

void drop_all_secret_files(const std::string& root) {
  std::error_code failed;
  if (!memory_folder().empty()) {
    for (std::filesystem::directory_iterator it(memory_folder(), failed), end; !failed && it != end;
         it.increment(failed)) {
      drop_secret_files(it->path().string());
    }
    return;
  }
  for (std::filesystem::directory_iterator it(root, failed), end; !failed && it != end; it.increment(failed)) {
    const std::string folder = secrets_folder(it->path().string());
    const OpenPlace place = open_place(folder);
    while (place.parent.is_open() && umount2(place.path(folder).c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) {
    }
  }
}

}  // namespace hodei::worker
