// The part of the sandbox that runs in the child, between its birth and the program. System calls only: other threads
// of the supervisor may hold any lock of the C library.
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/worker/limits/sandbox.h"

namespace hodei::worker {
namespace {

constexpr size_t kMostWritable = 8;
constexpr int kMostCapabilities = 64;

bool failed_at(const char* name, const char** step) {
  *step = name;
  return false;
}

bool put(const char* path, const std::string& text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool done = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(fd);
  return done;
}

bool put_back(int tree, const std::string& path) {
  const bool done = syscall(SYS_move_mount, tree, "", AT_FDCWD, path.c_str(), MOVE_MOUNT_F_EMPTY_PATH) == 0;
  close(tree);
  return done;
}

// Drops all capabilities so that the program cannot regain them, whatever its user is.
bool bound_capabilities() {
  for (int capability = 0; capability < kMostCapabilities; ++capability) {
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno != EINVAL) return false;
  }
  return true;
}

bool drop_capabilities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  return syscall(SYS_capset, &header, none) == 0;
}

}  // namespace

bool Sandbox::enter(const char** step) const {
  if (unshare(namespaces_) != 0) return failed_at("making its namespaces", step);
  if (!user_map_.empty() && !map_user(step)) return false;
  if ((namespaces_ & CLONE_NEWNET) != 0 && !raise_loopback()) return failed_at("starting its loopback network", step);
  return arrange_mounts(step);
}

bool Sandbox::map_user(const char** step) const {
  // What may not be dumped belongs to root in /proc, and its maps with it. This memory is a copy, and soon a program's.
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  // Where it is missing (old kernels), nothing has to be denied.
  if (!put("/proc/self/setgroups", "deny") && errno != ENOENT) return failed_at("denying setgroups", step);
  if (!put("/proc/self/uid_map", user_map_) || !put("/proc/self/gid_map", group_map_)) {
    return failed_at("mapping its user", step);
  }
  return true;
}

bool Sandbox::raise_loopback() const {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  ifreq request{};
  std::memcpy(request.ifr_name, "lo", sizeof("lo"));
  request.ifr_flags = IFF_UP;
  const bool done = ioctl(fd, SIOCSIFFLAGS, &request) == 0;
  close(fd);
  return done;
}

// What stays writable is taken out of the tree first, and put back when the rest has been changed.
bool Sandbox::arrange_mounts(const char** step) const {
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return failed_at("separating its mounts", step);
  int kept[kMostWritable];
  if (writable_.size() > kMostWritable) return failed_at("keeping its writable folders", step);
  for (size_t i = 0; i < writable_.size(); ++i) {
    constexpr unsigned kHow = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE;
    kept[i] = static_cast<int>(syscall(SYS_open_tree, AT_FDCWD, writable_[i].c_str(), kHow));
    if (kept[i] < 0) return failed_at("keeping its writable folders", step);
  }
  if (read_only_root_) {
    mount_attr read_only{};
    read_only.attr_set = MOUNT_ATTR_RDONLY;
    if (syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, &read_only, sizeof(read_only)) != 0) {
      return failed_at("making the root read-only", step);
    }
  }
  // The private folder last: it may be below any of the others.
  const size_t last = writable_.size() - 1;
  for (size_t i = 0; i < last; ++i) {
    if (!put_back(kept[i], writable_[i])) return failed_at("putting its writable folders back", step);
  }
  for (const Mount& each : empty_) {
    const int done = mount("tmpfs", each.path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, each.options.c_str());
    if (done != 0 && each.must_be) return failed_at("making its private /tmp", step);
  }
  for (const std::string& folder : made_) mkdir(folder.c_str(), 0755);  // those that are there stay
  return put_back(kept[last], writable_[last]) || failed_at("putting its own folder back", step);
}

bool Sandbox::seal(const char** step) const {
  // The system calls themselves: the C library would tell the other threads, which are not ours.
  if (change_user_ &&
      (syscall(SYS_setgroups, 0, nullptr) != 0 || syscall(SYS_setresgid, user_.gid, user_.gid, user_.gid) != 0)) {
    return failed_at("leaving its groups", step);
  }
  // While it is still root: only then the set that bounds them can be changed.
  if (!bound_capabilities()) return failed_at("bounding its capabilities", step);
  if (change_user_ && syscall(SYS_setresuid, user_.uid, user_.uid, user_.uid) != 0)
    return failed_at("changing its user", step);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed_at("giving up privileges", step);
  if (!drop_capabilities()) return failed_at("dropping its capabilities", step);
  // Changing the user has cleared it.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return failed_at("tying it to its supervisor", step);
  if (filter_.len > 0 && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter_) != 0) {
    return failed_at("loading the filter of system calls", step);
  }
  return true;
}

}  // namespace hodei::worker
