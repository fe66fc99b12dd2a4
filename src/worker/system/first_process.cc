#include "src/worker/system/first_process.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string_view>

#include "src/base/text.h"
#include "src/worker/system/journal.h"

namespace hodei::worker {
namespace {

struct Mount {
  const char* type;
  const char* target;
  const char* sign;  // there when somebody has mounted it already
  unsigned long flags;
  const char* options;
};

constexpr unsigned long kNoPrograms = MS_NOSUID | MS_NODEV | MS_NOEXEC;
constexpr Mount kMounts[] = {
    {"proc", "/proc", "/proc/self", kNoPrograms, ""},
    {"sysfs", "/sys", "/sys/kernel", kNoPrograms, ""},
    {"devtmpfs", "/dev", "/dev/null", MS_NOSUID, "mode=0755"},
    {"tmpfs", "/run", "/run", MS_NOSUID | MS_NODEV, "mode=0755"},
    {"tmpfs", "/tmp", "/tmp", MS_NOSUID | MS_NODEV, "mode=1777"},
    {"cgroup2", "/sys/fs/cgroup", "/sys/fs/cgroup/cgroup.controllers", kNoPrograms, ""},
};

bool exists(const char* path) {
  struct stat info {};
  return stat(path, &info) == 0;
}

// Docker and others mount cgroups v1 here, one folder for each controller.
bool is_taken(const Mount& mount) {
  return exists(mount.sign) || (std::string_view(mount.type) == "cgroup2" && exists("/sys/fs/cgroup/memory"));
}

}  // namespace

void hold_standard_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is this one.
    if (open("/dev/null", O_RDWR) == fd) continue;
    // No /dev: a socket that leads nowhere. Reading and writing fail, and nobody waits.
    [[maybe_unused]] const int nowhere = socket(AF_UNIX, SOCK_DGRAM, 0);
  }
}

void close_inherited_descriptors(int kept) {
  constexpr unsigned kFirst = STDERR_FILENO + 1;
  constexpr unsigned kFallbackEnd = 1024;  // kernels before 5.9
  const auto close_from_to = [=](unsigned first, unsigned last) {
    if (first > last || syscall(SYS_close_range, first, last, 0) == 0) return;
    for (unsigned fd = first; fd <= std::min(last, kFallbackEnd); ++fd) close(static_cast<int>(fd));
  };
  if (kept <= STDERR_FILENO) return close_from_to(kFirst, UINT_MAX);
  close_from_to(kFirst, static_cast<unsigned>(kept) - 1);
  close_from_to(static_cast<unsigned>(kept) + 1, UINT_MAX);
}

void hold_console() {
  const int console = open("/dev/console", O_RDWR | O_NOCTTY);
  if (console < 0) return;
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fd != console) dup2(console, fd);
  }
  if (console > STDERR_FILENO) close(console);
}

void mount_what_is_missing() {
  for (const Mount& each : kMounts) {
    if (is_taken(each)) continue;
    mkdir(each.target, 0755);
    if (mount(each.type, each.target, each.type, each.flags, each.options) == 0) continue;
    say("cannot mount ", each.target, ": ", strerror(errno), "; continuing without it");
  }
}

std::string own_program() {
  constexpr std::string_view kReplaced = " (deleted)";
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  if (size > 0 && size < static_cast<ssize_t>(sizeof(path))) {
    std::string_view found(path, static_cast<size_t>(size));
    if (found.ends_with(kReplaced)) found.remove_suffix(kReplaced.size());
    return std::string(found);
  }
  const char* started_as = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (started_as == nullptr) return {};
  if (started_as[0] == '/') return started_as;
  if (getcwd(path, sizeof(path)) == nullptr) return started_as;
  return cat(path, path[1] == '\0' ? "" : "/", started_as);
}

}  // namespace hodei::worker
