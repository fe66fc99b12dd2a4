#include "src/worker/limits/seccomp_filter.h"

#include <linux/sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "src/base/status.h"
#include "src/worker/system/fd.h"
#include "src/worker/system/shortage.h"

namespace hodei::worker {
namespace {

// By name: libseccomp knows the number for each architecture, and skips what one does not have.
constexpr const char* kRefusedCalls[] = {
    // Mounts and roots.
    "mount",
    "umount",
    "umount2",
    "pivot_root",
    "chroot",
    "mount_setattr",
    "move_mount",
    "open_tree",
    "fsopen",
    "fsmount",
    "fsconfig",
    "fspick",
    "open_by_handle_at",
    "name_to_handle_at",
    "quotactl",
    "quotactl_fd",
    "sysfs",
    "ustat",
    // The running kernel.
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "create_module",
    "query_module",
    "get_kernel_syms",
    "reboot",
    "swapon",
    "swapoff",
    "bpf",
    "perf_event_open",
    "syslog",
    "acct",
    "lookup_dcookie",
    "userfaultfd",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "iopl",
    "ioperm",
    "vm86",
    "vm86old",
    "uselib",
    "nfsservctl",
    "vhangup",
    "sethostname",
    "setdomainname",
    // The clock.
    "settimeofday",
    "clock_settime",
    "clock_adjtime",
    "adjtimex",
    "stime",
    "clock_settime64",
    "clock_adjtime64",
    // Other processes.
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "kcmp",
    "pidfd_getfd",
    // Keys of the kernel, and namespaces.
    "keyctl",
    "add_key",
    "request_key",
    "setns",
    "unshare",
};

constexpr uint64_t kNewNamespaces[] = {CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWNET,   CLONE_NEWPID,
                                       CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP};

constexpr unsigned kVirtualMachineSockets = 40;  // AF_VSOCK: no network namespace holds them

int refuse_all(scmp_filter_ctx filter) {
  const uint32_t refusal = SCMP_ACT_ERRNO(EPERM);
  for (const char* name : kRefusedCalls) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR) continue;
    if (const int failed = seccomp_rule_add(filter, refusal, number, 0); failed < 0) return failed;
  }
  for (const uint64_t flag : kNewNamespaces) {
    const int failed = seccomp_rule_add(filter, refusal, SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, flag, flag));
    if (failed < 0) return failed;
  }
  // Its flags are in memory, where a filter cannot look; "not there" makes the C library take clone instead.
  int failed = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  if (failed == 0) {
    failed = seccomp_rule_add(filter, refusal, SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_EQ, kVirtualMachineSockets));
  }
  // Typing into a terminal that others read.
  if (failed == 0)
    failed = seccomp_rule_add(filter, refusal, SCMP_SYS(ioctl), 1, SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffff, TIOCSTI));
  return failed;
}

absl::StatusOr<std::vector<sock_filter>> compile() {
  const auto failure = [](int error) { return errno_status(-error, "making the filter of system calls"); };
  const std::unique_ptr<void, void (*)(void*)> filter(seccomp_init(SCMP_ACT_ALLOW), seccomp_release);
  if (!filter) return absl::InternalError("libseccomp cannot make a filter");
#if defined(__x86_64__)
  // A program for 32 bits meets the same filter; one for x32 ends.
  if (const int failed = seccomp_arch_add(filter.get(), SCMP_ARCH_X86); failed < 0 && failed != -EEXIST)
    return failure(failed);
#endif
  if (const int failed = refuse_all(filter.get()); failed < 0) return failure(failed);
  const Fd file(memfd_create("filter", MFD_CLOEXEC));
  if (const int failed = seccomp_export_bpf(filter.get(), file.get()); failed < 0) return failure(failed);
  const off_t size = lseek(file.get(), 0, SEEK_END);
  std::vector<sock_filter> program(static_cast<size_t>(size) / sizeof(sock_filter));
  if (pread(file.get(), program.data(), static_cast<size_t>(size), 0) != size) {
    return errno_status(errno, "reading the filter of system calls");
  }
  return program;
}

}  // namespace

const absl::StatusOr<std::vector<sock_filter>>& default_filter() {
  static const absl::StatusOr<std::vector<sock_filter>> filter = compile();
  return filter;
}

}  // namespace hodei::worker
