#include "src/worker/fitness.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/base/clip.h"
#include "src/base/sizes.h"
#include "src/base/text.h"
#include "src/worker/small_files.h"

namespace hodei::worker {
namespace {

constexpr size_t kMaxReason = 400;

std::string reason_in(const std::string& file) {
  const std::string text = read_file(file);
  const std::string line(clip(text.substr(0, text.find('\n')), kMaxReason));
  return line.empty() ? cat("taken out of service by the file ", file) : line;
}

}  // namespace

std::string status_of(const std::string& state_dir) {
  const std::string mark = cat(state_dir, "/", kUnfitFile);
  struct stat found {};
  if (stat(mark.c_str(), &found) == 0) return reason_in(mark);
  if (access(state_dir.c_str(), W_OK) != 0) {
    return cat("the state folder ", state_dir, " cannot be written: ", std::strerror(errno));
  }
  struct statvfs disk {};
  if (statvfs(state_dir.c_str(), &disk) != 0) return "ok";  // nothing is known, and that is no trouble
  const int64_t left = static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize);
  if (left < kLeastFreeDisk) {
    return cat("the disk of the state folder ", state_dir, " is nearly full: ", size_text(left), " left");
  }
  if (disk.f_files > 0 && disk.f_favail == 0)
    return cat("the disk of the state folder ", state_dir, " has no inodes left");
  return "ok";
}

}  // namespace hodei::worker
