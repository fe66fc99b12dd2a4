#include "src/worker/reports/socket_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "src/base/text.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {
namespace {

constexpr size_t kMarkLetters = 12;
constexpr std::string_view kName = "/socket";
constexpr std::string_view kSharedFolder = "/run/hodei";  // of all workers of root here

// The folder belongs to us and everybody may enter it. In /tmp, another user may have created it first.
bool make_open_folder(const std::string& path) {
  mkdir(path.c_str(), 0755);
  const Fd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!folder.is_open() || fstat(folder.get(), &info) != 0 || info.st_uid != geteuid()) return false;
  return (info.st_mode & 0777) == 0755 || fchmod(folder.get(), 0755) == 0;
}

std::vector<std::string> candidates(const std::string& mark, const std::string& state_dir) {
  const std::string in_tmp = cat("/tmp/hodei-", mark);
  if (geteuid() != 0) return {state_dir + "/run", in_tmp};
  mkdir("/run", 0755);
  std::vector<std::string> out;
  if (make_open_folder(std::string(kSharedFolder))) out.push_back(cat(kSharedFolder, "/", mark));
  out.push_back(in_tmp);
  return out;
}

}  // namespace

SocketFolder SocketFolder::make(const std::string& mark, const std::string& state_dir) {
  SocketFolder made;
  for (const std::string& path : candidates(mark.substr(0, kMarkLetters), state_dir)) {
    if (path.size() + kName.size() >= sizeof(sockaddr_un::sun_path) || !make_open_folder(path)) continue;
    made.path_ = path;
    break;
  }
  return made;
}

SocketFolder::SocketFolder(SocketFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

SocketFolder& SocketFolder::operator=(SocketFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

SocketFolder::~SocketFolder() {
  if (path_.empty()) return;
  unlink(socket().c_str());
  rmdir(path_.c_str());
}

std::string SocketFolder::socket() const { return path_.empty() ? std::string() : cat(path_, kName); }

}  // namespace hodei::worker
