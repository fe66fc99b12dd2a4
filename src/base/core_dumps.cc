#include "src/base/core_dumps.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hodei {
namespace {

// Plain memory: read between fork and exec.
bool is_lowered = false;
rlimit original{};

// Who has it sees the environment of processes that may not be dumped.
bool may_trace() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capget, &header, sets) != 0) return false;
  return (sets[CAP_SYS_PTRACE / 32].effective & (1U << (CAP_SYS_PTRACE % 32))) != 0;
}

}  // namespace

void forbid_core_dumps(FoundBy found_by) {
  const bool hides = found_by == FoundBy::Nobody || may_trace();
  if (hides) prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  if (is_lowered || getrlimit(RLIMIT_CORE, &original) != 0) return;
  // A limit of 0 does not keep the kernel from piping a dump into a program; a limit of 1 does.
  rlimit lowered = original;
  lowered.rlim_cur = hides || original.rlim_max == 0 ? 0 : 1;
  is_lowered = setrlimit(RLIMIT_CORE, &lowered) == 0;
}

void restore_core_limit() {
  if (is_lowered) setrlimit(RLIMIT_CORE, &original);
}

CoreLimitRestored::CoreLimitRestored() {
  getrlimit(RLIMIT_CORE, &lowered_);
  restore_core_limit();
}

CoreLimitRestored::~CoreLimitRestored() { setrlimit(RLIMIT_CORE, &lowered_); }

}  // namespace hodei
