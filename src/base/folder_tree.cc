#include "src/base/folder_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"

namespace hodei {
namespace {

constexpr size_t kFoldersAtOnce = 64;  // names remembered of each level; the level is read again for the others
constexpr int kMostMounts = 100;       // on top of each other in one place

class OpenFolder {
 public:
  OpenFolder() = default;
  explicit OpenFolder(int fd) : fd_(fd) {}
  OpenFolder(OpenFolder&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OpenFolder& operator=(OpenFolder&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~OpenFolder() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const Identity&) const = default;
};

Identity identity_of(int folder) {
  struct stat info {};
  return fstat(folder, &info) == 0 ? Identity{info.st_dev, info.st_ino} : Identity{};
}

// Takes away what a job has mounted there; only root can, and only root could mount it.
bool detach_mounts(int parent, const std::string& name) {
  const std::string path = cat("/proc/self/fd/", parent, "/", name);
  int detached = 0;
  while (detached < kMostMounts && umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) ++detached;
  return detached > 0;
}

// A job may have taken from its folders the rights that we need to empty them.
OpenFolder open_to_empty(int parent, const std::string& name) {
  OpenFolder folder(open_folder(parent, name));
  if (!folder.is_open() && errno == EXDEV && detach_mounts(parent, name))
    folder = OpenFolder(open_folder(parent, name));
  if (!folder.is_open() && errno == EACCES && fchmodat(parent, name.c_str(), S_IRWXU, AT_SYMLINK_NOFOLLOW) == 0) {
    folder = OpenFolder(open_folder(parent, name));
  }
  struct stat info {};
  if (folder.is_open() && fstat(folder.fd(), &info) == 0 && (info.st_mode & S_IRWXU) != S_IRWXU)
    fchmod(folder.fd(), S_IRWXU);
  return folder;
}

bool remove_entry(int parent, const std::string& name, int flags) {
  if (unlinkat(parent, name.c_str(), flags) == 0 || errno == ENOENT) return true;
  if (errno != EBUSY || !detach_mounts(parent, name)) return false;
  return unlinkat(parent, name.c_str(), flags) == 0;
}

// Calls `take` for every entry of an open folder until it returns false.
void for_each_entry(int folder, const std::function<bool(const std::string& name, bool is_folder)>& take) {
  const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* entries = copy < 0 ? nullptr : fdopendir(copy);
  if (entries == nullptr) {
    if (copy >= 0) close(copy);
    return;
  }
  while (const dirent* entry = readdir(entries)) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    struct stat info {};
    const bool is_folder = entry->d_type == DT_DIR ||
                           (entry->d_type == DT_UNKNOWN &&
                            fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode));
    if (!take(name, is_folder)) break;
  }
  closedir(entries);
}

// Walks down and up again with a single descriptor, so that a tree of any depth can be removed. On the way up `..` must
// be the folder that we came from: otherwise somebody moves folders while we work, and we stop.
class Removal {
 public:
  absl::Status run(OpenFolder top) {
    here_ = std::move(top);
    levels_.push_back({.identity = identity_of(here_.fd())});
    while (true) {
      Level& level = levels_.back();
      if (level.folders.empty() && std::exchange(level.look_again, false)) clear_files(level);
      if (!level.folders.empty()) {
        descend();
      } else if (levels_.size() == 1) {
        return first_error_;
      } else if (!ascend()) {
        return absl::AbortedError("a folder was moved while its tree was being removed");
      }
    }
  }

 private:
  struct Level {
    Identity identity;
    std::string name = {};                  // in the level above
    std::vector<std::string> folders = {};  // still to be entered
    bool look_again = true;
  };

  void clear_files(Level& level) {
    for_each_entry(here_.fd(), [&](const std::string& name, bool is_folder) {
      if (is_folder) {
        level.folders.push_back(name);
      } else if (remove_entry(here_.fd(), name, 0)) {
        level.look_again = true;
      } else {
        note_error(name);
      }
      return level.folders.size() < kFoldersAtOnce;
    });
  }
  void descend() {
    std::string name = std::move(levels_.back().folders.back());
    levels_.back().folders.pop_back();
    OpenFolder below = open_to_empty(here_.fd(), name);
    if (!below.is_open()) return note_error(name);
    levels_.push_back({.identity = identity_of(below.fd()), .name = std::move(name)});
    here_ = std::move(below);
  }
  bool ascend() {
    const std::string name = std::move(levels_.back().name);
    levels_.pop_back();
    OpenFolder above(openat(here_.fd(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!above.is_open() || identity_of(above.fd()) != levels_.back().identity) return false;
    here_ = std::move(above);
    if (remove_entry(here_.fd(), name, AT_REMOVEDIR)) {
      levels_.back().look_again = true;
    } else {
      note_error(name);
    }
    return true;
  }
  void note_error(const std::string& name) {
    if (first_error_.ok()) first_error_ = absl::ErrnoToStatus(errno, "removing " + name);
  }

  OpenFolder here_;
  std::vector<Level> levels_;
  absl::Status first_error_;
};

struct SplitPath {
  std::string folder;
  std::string name;
};

SplitPath split(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

absl::Status give_below(int folder, uid_t user, gid_t group) {
  absl::Status given;
  for_each_entry(folder, [&](const std::string& name, bool) {
    given = give_tree(folder, name, user, group);
    return given.ok();
  });
  return given;
}

}  // namespace

int open_folder(int parent, const std::string& name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  open_how how{};
  how.flags = kFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
  const long fd = syscall(SYS_openat2, parent, name.c_str(), &how, sizeof(how));
  if (fd >= 0 || errno != ENOSYS) return static_cast<int>(fd);
  // Before Linux 5.6 another file system is noticed, but not a second mount of the same one.
  const int plain = openat(parent, name.c_str(), kFlags);
  if (plain >= 0 && identity_of(plain).device != identity_of(parent).device) {
    close(plain);
    errno = EXDEV;
    return -1;
  }
  return plain;
}

absl::Status remove_tree(int parent, const std::string& name) {
  struct stat info {};
  if (fstatat(parent, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? absl::OkStatus() : absl::ErrnoToStatus(errno, "removing " + name);
  }
  absl::Status emptied;
  int flags = 0;
  if (S_ISDIR(info.st_mode)) {
    OpenFolder folder = open_to_empty(parent, name);
    if (!folder.is_open()) return absl::ErrnoToStatus(errno, "removing " + name);
    flags = AT_REMOVEDIR;
    emptied = Removal().run(std::move(folder));
  }
  if (remove_entry(parent, name, flags)) return absl::OkStatus();
  return emptied.ok() ? absl::ErrnoToStatus(errno, "removing " + name) : emptied;
}

absl::Status remove_tree(const std::string& path) {
  const SplitPath parts = split(path);
  if (parts.name.empty() || parts.name == "." || parts.name == "..") {
    return absl::InvalidArgumentError(cat("'", path, "' does not end with the name of a folder to remove"));
  }
  const OpenFolder parent(open(parts.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent.is_open())
    return errno == ENOENT ? absl::OkStatus() : absl::ErrnoToStatus(errno, "opening " + parts.folder);
  return remove_tree(parent.fd(), parts.name);
}

absl::Status give_tree(int parent, const std::string& name, uid_t user, gid_t group) {
  if (fchownat(parent, name.c_str(), user, group, AT_SYMLINK_NOFOLLOW) != 0) {
    return absl::ErrnoToStatus(errno, cat("giving ", name, " to user ", user));
  }
  const OpenFolder folder(open_folder(parent, name));
  if (folder.is_open()) return give_below(folder.fd(), user, group);
  const bool has_nothing_below = errno == ENOTDIR || errno == ELOOP || errno == EXDEV;
  return has_nothing_below ? absl::OkStatus() : absl::ErrnoToStatus(errno, "opening " + name);
}

}  // namespace hodei
