#include "src/worker/system/disk_usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <set>
#include <string_view>

#include "src/base/folder_tree.h"

namespace hodei::worker {
namespace {

constexpr int64_t kStatBlock = 512;  // of st_blocks, whatever the file system
constexpr size_t kDeepest = 200;     // every level needs a descriptor

class Count {
 public:
  void walk(int folder, size_t depth) {
    DIR* entries = fdopendir(folder);
    if (entries == nullptr) {
      ::close(folder);
      return;
    }
    while (const dirent* entry = readdir(entries)) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (++seen_ > kMostCounted) break;
      add(dirfd(entries), entry->d_name, depth);
    }
    closedir(entries);
  }
  void stay_on(dev_t device) { device_ = device; }
  int64_t bytes() const { return bytes_; }

 private:
  void add(int folder, const char* name, size_t depth) {
    struct stat info {};
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || info.st_dev != device_) return;
    const bool counted = !S_ISDIR(info.st_mode) && info.st_nlink > 1 && !linked_.insert(info.st_ino).second;
    if (!counted) bytes_ += info.st_blocks * kStatBlock;
    if (!S_ISDIR(info.st_mode) || depth >= kDeepest) return;
    const int below = open_folder(folder, name);
    if (below >= 0) walk(below, depth + 1);
  }

  dev_t device_ = 0;
  int seen_ = 0;
  int64_t bytes_ = 0;
  std::set<ino_t> linked_;
};

}  // namespace

int64_t disk_usage(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat info {};
  if (fd < 0) return 0;
  Count count;
  if (fstat(fd, &info) == 0) count.stay_on(info.st_dev);
  count.walk(fd, 0);
  return count.bytes();
}

}  // namespace hodei::worker
