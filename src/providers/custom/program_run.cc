#include "src/providers/custom/program_run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/base/child_environment.h"
#include "src/base/status.h"

namespace hodei::providers {
namespace {

class OpenFile {
 public:
  explicit OpenFile(int fd = -1) : fd_(fd) {}
  ~OpenFile() { reset(); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const { return fd_; }
  void reset(int fd = -1) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }

 private:
  int fd_;
};

struct Pipe {
  OpenFile ours, theirs;

  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    ours.reset(ends[0]);
    theirs.reset(ends[1]);
    return fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
  }
};

// The request as a file in memory: no program can block us by not reading it, and the token never touches a disk.
int input_file(const std::string& text) {
  const int fd = memfd_create("request", MFD_CLOEXEC);
  size_t done = 0;
  while (fd >= 0 && done < text.size()) {
    const ssize_t put = write(fd, text.data() + done, text.size() - done);
    if (put <= 0) break;
    done += static_cast<size_t>(put);
  }
  if (fd >= 0) lseek(fd, 0, SEEK_SET);
  return fd;
}

absl::StatusOr<pid_t> spawn(const ProgramRun& run, int in, int out, int err) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in, 0);
  posix_spawn_file_actions_adddup2(&files, out, 1);
  posix_spawn_file_actions_adddup2(&files, err, 2);
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&how, 0);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&how, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&how, &signals);
  std::vector<std::string> words = run.arguments;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  // The program may need what the server was given for its vendor (PATH, HOME, AWS_PROFILE), none of our settings.
  const ChildEnvironment environment({"HODEI_DRY_RUN"});
  const int failed = posix_spawn(&pid, words[0].c_str(), &files, &how, argv.data(), environment.get());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&how);
  if (failed == 0) return pid;
  const std::string why = cat("cannot run ", run.arguments[0], ": ", std::strerror(failed));
  return failed == EAGAIN || failed == ENOMEM ? absl::UnavailableError(why) : absl::FailedPreconditionError(why);
}

enum class Flow : uint8_t { Open, Closed };

// Takes what is there. `most` counts from the beginning (more is too much) or from the end (older is dropped).
Flow drain(int fd, std::string& into, size_t most, bool keep_end) {
  char buffer[16 * 1024];
  while (true) {
    const ssize_t got = read(fd, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN ? Flow::Open : Flow::Closed;
    if (got == 0) return Flow::Closed;
    into.append(buffer, static_cast<size_t>(got));
    if (keep_end && into.size() > most) into.erase(0, into.size() - most);
    if (!keep_end && into.size() > most) return Flow::Closed;
  }
}

class Watcher {
 public:
  Watcher(pid_t pid, Duration limit, Pipe& out, Pipe& err)
      : pid_(pid),
        deadline_(clock_.now().mono + limit),
        out_(out),
        err_(err),
        ended_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {}

  ProgramOutcome watch() {
    while (true) {
      pollfd files[] = {{.fd = ended_.get(), .events = POLLIN, .revents = 0},
                        {.fd = out_.ours.get(), .events = POLLIN, .revents = 0},
                        {.fd = err_.ours.get(), .events = POLLIN, .revents = 0}};
      const Duration left = deadline_ - clock_.now().mono;
      if (left <= Duration(0)) return kill_it(ProgramOutcome::End::TimedOut);
      const int got = poll(files, 3, static_cast<int>(std::min<int64_t>(left.count() / 1000 + 1, 60'000)));
      if (got < 0 && errno != EINTR) return kill_it(ProgramOutcome::End::TimedOut);
      // Looked at before the pipes are emptied: what it wrote before its end is in them then. Whatever it left behind
      // may hold them open for ever.
      const bool ended = got > 0 && (files[0].revents & POLLIN) != 0;
      take();
      if (outcome_.output.size() > kMostOutput) return kill_it(ProgramOutcome::End::TooMuch);
      if (ended) return collect();
    }
  }

 private:
  void take() {
    if (out_.ours.get() >= 0 && drain(out_.ours.get(), outcome_.output, kMostOutput, false) == Flow::Closed)
      out_.ours.reset();
    if (err_.ours.get() >= 0 && drain(err_.ours.get(), outcome_.complaint, kMostComplaint, true) == Flow::Closed)
      err_.ours.reset();
  }
  ProgramOutcome kill_it(ProgramOutcome::End why) {
    kill(-pid_, SIGKILL);
    take();
    collect();
    outcome_.end = why;
    return std::move(outcome_);
  }
  ProgramOutcome collect() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    outcome_.end = WIFEXITED(status) ? ProgramOutcome::End::Exited : ProgramOutcome::End::Killed;
    outcome_.code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    return outcome_;
  }

  const pid_t pid_;
  const SystemClock clock_;
  const MonoTime deadline_;
  Pipe& out_;
  Pipe& err_;
  OpenFile ended_;
  ProgramOutcome outcome_;
};

}  // namespace

absl::StatusOr<ProgramOutcome> run_program(const ProgramRun& run) {
  const OpenFile in(input_file(run.input));
  Pipe out, err;
  if (in.get() < 0 || !out.open() || !err.open())
    return absl::ErrnoToStatus(errno, "no file descriptors left to start a program");
  ASSIGN_OR_RETURN(const pid_t pid, spawn(run, in.get(), out.theirs.get(), err.theirs.get()));
  out.theirs.reset();
  err.theirs.reset();
  return Watcher(pid, run.limit, out, err).watch();
}

}  // namespace hodei::providers
