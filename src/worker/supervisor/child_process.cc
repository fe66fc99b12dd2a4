#include "src/worker/supervisor/child_process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <new>

#include "src/base/core_dumps.h"

namespace hodei::worker {
namespace {

[[noreturn]] void fail(const Child& child, Stage stage) {
  child.trouble->error = errno;
  child.trouble->stage = stage;
  _exit(127);
}

// From here on the table of descriptors is the child's own.
void take_descriptors(const Child& child) {
  if (!child.shares_fds) return;
  const auto first = static_cast<unsigned>(child.fds->highest()) + 1;
  if (syscall(SYS_close_range, first, UINT_MAX, CLOSE_RANGE_UNSHARE) == 0) return;
  if (unshare(CLONE_FILES) != 0) fail(child, Stage::Clone);
}

void limit_data(const Child& child) {
  if (child.data_limit <= 0) return;
  const rlimit limit{static_cast<rlim_t>(child.data_limit), static_cast<rlim_t>(child.data_limit)};
  if (setrlimit(RLIMIT_DATA, &limit) != 0) fail(child, Stage::Limit);
}

// Runs in the child, on the parent's memory. System calls only.
[[noreturn]] void become_program(const Child& child) {
  // The parent's threads are permanent, so this fires only when the supervisor itself is gone.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // What its descendants leave behind becomes its child and not the supervisor's, which tells whose it is; see Orphans.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (size_t i = 0; i < child.join_count; ++i) {
    if (write(child.join_files[i], "0", 1) != 1) fail(child, Stage::Join);
  }
  if (child.cgroup >= 0) {
    const int procs = openat(child.cgroup, "cgroup.procs", O_WRONLY | O_CLOEXEC);
    if (procs < 0 || write(procs, "0", 1) != 1) fail(child, Stage::Join);
  }
  take_descriptors(child);
  setsid();
  if (child.record != nullptr) child.record->store(getpid());
  const char* step = nullptr;
  if (child.sandbox != nullptr && !child.sandbox->enter(&step)) {
    child.trouble->step = step;
    fail(child, Stage::Sandbox);
  }
  if (chdir(child.working_dir) != 0) fail(child, Stage::Folder);
  dup2(child.fds->in(), STDIN_FILENO);
  dup2(child.fds->out(), STDOUT_FILENO);
  dup2(child.fds->err(), STDERR_FILENO);
  // What the supervisor itself was started with is not for jobs.
  syscall(SYS_close_range, STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC);
  struct sigaction defaults {};
  defaults.sa_handler = SIG_DFL;
  sigaction(SIGPIPE, &defaults, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  limit_data(child);
  restore_core_limit();  // ours is none, because of the secrets that we hold
  if (child.sandbox != nullptr && !child.sandbox->seal(&step)) {
    child.trouble->step = step;
    fail(child, Stage::Sandbox);
  }
  // What we found may be hidden in a sandbox, or not for its user: then the next one counts, as in a shell.
  for (const char* const* path = child.paths; *path != nullptr; ++path) {
    execve(*path, child.argv, child.env);
    if (errno != EACCES && errno != ENOENT) break;
  }
  fail(child, Stage::Exec);
}

#if defined(__x86_64__) || defined(__aarch64__)
// The system call is inlined: parent and child share the stack, so the child must not return from the frame it was
// born in, not even from a wrapper.
inline __attribute__((always_inline)) long clone3(clone_args* args) {
#if defined(__x86_64__)
  long result = SYS_clone3;
  asm volatile("syscall" : "+a"(result) : "D"(args), "S"(sizeof(*args)) : "rcx", "r11", "memory");
  return result;
#else
  register long x8 asm("x8") = SYS_clone3;
  register long x0 asm("x0") = reinterpret_cast<long>(args);
  register long x1 asm("x1") = sizeof(*args);
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1) : "memory");
  return x0;
#endif
}

// A sandboxed child has a copy of our memory, not the memory itself: changing the user of a process changes what its
// memory may be used for. In both cases we go on only when it has become the program or has ended. The table of
// descriptors is shared until the child takes its part of it: a whole copy, and closing it again, costs more than the
// child itself.
uint64_t clone_flags(const Child& child) {
  return CLONE_VFORK | CLONE_FILES | (child.sandbox == nullptr ? CLONE_VM : 0);
}

// Born inside the cgroup: moving there afterwards takes a lock that all forks of the machine wait for.
__attribute__((noinline)) long clone_into(const Child& child, int cgroup) {
  clone_args args{};
  args.flags = clone_flags(child) | (cgroup >= 0 ? CLONE_INTO_CGROUP : 0);
  args.exit_signal = SIGCHLD;
  args.cgroup = cgroup >= 0 ? static_cast<uint64_t>(cgroup) : 0;
  const long pid = clone3(&args);
  if (pid == 0) become_program(child);
  return pid;
}
#else
long clone_into(const Child&, int) { return -ENOSYS; }
#endif

__attribute__((noinline)) pid_t plain_vfork(const Child& child) {
  // Without the memory in common a wrapper may return in the child.
  const pid_t pid =
      child.sandbox == nullptr ? vfork() : static_cast<pid_t>(syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0));
  if (pid == 0) become_program(child);
  return pid;
}

}  // namespace

pid_t start_child(Child& child, int cgroup) {
  // No signal may run a handler in the child while it shares our memory.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  child.shares_fds = true;
  long pid = clone_into(child, cgroup);
  if (pid == -ENOSYS || pid == -EPERM || pid == -EINVAL) {  // an old kernel, or a filter such as Docker's
    child.cgroup = cgroup;
    child.shares_fds = false;
    pid = plain_vfork(child);
    if (pid < 0) pid = -errno;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    child.trouble->stage = Stage::Clone;
    child.trouble->error = static_cast<int>(-pid);
    return 0;
  }
  return static_cast<pid_t>(pid);
}

SharedTrouble::SharedTrouble()
    : memory_(mmap(nullptr, sizeof(Trouble), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
  if (memory_ != MAP_FAILED) new (memory_) Trouble();
}

SharedTrouble::~SharedTrouble() {
  if (memory_ != MAP_FAILED) munmap(memory_, sizeof(Trouble));
}

Trouble* SharedTrouble::get() const { return memory_ == MAP_FAILED ? nullptr : static_cast<Trouble*>(memory_); }

bool LentFds::open() {
  if (!nothing_.is_open()) nothing_ = Fd(eventfd(0, EFD_CLOEXEC));
  for (Fd& fd : fds_) {
    if (!fd.is_open()) fd = Fd(fcntl(nothing_.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  }
  return std::all_of(std::begin(fds_), std::end(fds_), [](const Fd& fd) { return fd.is_open(); });
}

bool LentFds::lend(int in, int out, int err) {
  return open() && dup3(in, fds_[0].get(), O_CLOEXEC) >= 0 && dup3(out, fds_[1].get(), O_CLOEXEC) >= 0 &&
         dup3(err, fds_[2].get(), O_CLOEXEC) >= 0;
}

void LentFds::take_back() {
  for (const Fd& fd : fds_) dup3(nothing_.get(), fd.get(), O_CLOEXEC);
}

int LentFds::highest() const { return std::max({in(), out(), err()}); }

}  // namespace hodei::worker
