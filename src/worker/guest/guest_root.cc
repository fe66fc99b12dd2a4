#include "src/worker/guest/guest_root.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/base/status.h"
#include "src/worker/system/fd.h"
#include "src/worker/system/first_process.h"

extern char** environ;

namespace hodei::worker {
namespace {

constexpr const char* kBase = "/layers/base";
constexpr const char* kOwn = "/layers/own";
constexpr const char* kRoot = "/layers/root";
constexpr const char* kProgram = "/.hodei/hodei-worker";  // in the new root

absl::Status mount_failed(std::string_view what) { return absl::ErrnoToStatus(errno, cat("root file system: ", what)); }

absl::Status mount_base(const std::string& disk) {
  for (const char* type : {"ext4", "squashfs"}) {
    if (mount(disk.c_str(), kBase, type, MS_RDONLY, "") == 0) return absl::OkStatus();
  }
  return mount_failed(cat("cannot mount ", disk));
}

absl::Status mount_own(const std::string& disk) {
  if (disk.empty() ? mount("tmpfs", kOwn, "tmpfs", 0, "mode=0755") != 0
                   : mount(disk.c_str(), kOwn, "ext4", 0, "") != 0) {
    return mount_failed(cat("cannot mount ", disk.empty() ? "a layer in memory" : disk));
  }
  return absl::OkStatus();
}

// The file itself, not a copy: it is in memory already.
absl::Status bring_program() {
  const std::string folder = cat(kRoot, "/.hodei"), file = cat(kRoot, kProgram);
  mkdir(folder.c_str(), 0755);
  const Fd place(open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0755));
  if (!place.is_open()) return mount_failed(cat("cannot make ", file));
  if (mount(own_program().c_str(), file.c_str(), nullptr, MS_BIND, nullptr) != 0)
    return mount_failed("cannot copy the worker in");
  return absl::OkStatus();
}

}  // namespace

absl::Status enter_root(const GuestDisks& disks) {
  for (const char* folder : {"/layers", kBase, kOwn, kRoot}) mkdir(folder, 0755);
  RETURN_IF_ERROR(mount_base(disks.root));
  RETURN_IF_ERROR(mount_own(disks.scratch));
  const std::string upper = cat(kOwn, "/upper"), work = cat(kOwn, "/work");
  mkdir(upper.c_str(), 0755);
  mkdir(work.c_str(), 0755);
  const std::string layers = cat("lowerdir=", kBase, ",upperdir=", upper, ",workdir=", work);
  if (mount("overlay", kRoot, "overlay", 0, layers.c_str()) != 0) {
    return mount_failed("cannot mount the overlay (does the kernel have the driver overlay?)");
  }
  RETURN_IF_ERROR(bring_program());
  if (chdir(kRoot) != 0 || mount(".", "/", nullptr, MS_MOVE, nullptr) != 0 || chroot(".") != 0 || chdir("/") != 0) {
    return mount_failed("cannot switch to it");
  }
  return absl::OkStatus();
}

absl::Status start_again_in_root() {
  char* const arguments[] = {const_cast<char*>(kProgram), nullptr};
  execve(kProgram, arguments, environ);
  return mount_failed(cat("cannot run ", kProgram));
}

}  // namespace hodei::worker
