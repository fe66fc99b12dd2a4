#include "src/providers/firecracker/vm_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "src/base/child_environment.h"
#include "src/base/status.h"
#include "src/providers/firecracker/fd.h"

namespace hodei::providers::firecracker {
namespace {

constexpr int kEndMillis = 20'000;
constexpr size_t kMostOutput = 4096;

std::string proc_text(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string boot_id() { return proc_text("/proc/sys/kernel/random/boot_id"); }

struct Identity {
  pid_t pid = -1;
  std::string state;    // R, S, Z, …
  std::string started;  // in ticks since boot
};

// What /proc/PID/stat says. The name in it may hold anything, parentheses too.
Identity parse_stat(const std::string& stat) {
  Identity out;
  const size_t end = stat.rfind(')');
  if (end == std::string::npos) return out;
  std::istringstream fields(stat.substr(end + 1));
  fields >> out.state;
  for (int field = 4; field <= 22; ++field) fields >> out.started;
  if (fields) out.pid = atoi(stat.c_str());
  return out;
}

// The recorded process, when this is still the same boot; pid -1: none was started.
Identity recorded(const std::string& record) {
  const std::string text = proc_text(record);
  const std::string boot = boot_id();
  if (!text.starts_with(boot)) return {};
  return parse_stat(text.substr(boot.size()));
}

bool is_alive(const Identity& who) {
  if (who.pid <= 0) return false;
  waitpid(who.pid, nullptr, WNOHANG);  // when it is our child and has ended: then nothing of it stays
  const Identity now = parse_stat(proc_text(cat("/proc/", who.pid, "/stat")));
  return now.pid == who.pid && now.started == who.started && now.state != "Z" && now.state != "X";
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// A pipe into the file, through a process of its own that lives as long as somebody writes. A monitor that wrote to the
// file itself would be ended by RLIMIT_FSIZE once it is full: Firecracker catches SIGXFSZ, and ends.
absl::StatusOr<Fd> start_console_keeper(const std::string& worker, int file) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::UnavailableError(cat("pipe: ", strerror(errno)));
  const Fd reads(ends[0]);
  Fd writes(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, reads.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, file, STDOUT_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  const std::vector<std::string> arguments = {worker, "@console", cat(kMostConsole)};
  const ChildEnvironment environment;
  pid_t child = -1;
  const int error =
      posix_spawn(&child, worker.c_str(), &actions, &attributes, pointers(arguments).data(), environment.get());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return absl::UnavailableError(cat("cannot run ", worker, ": ", strerror(error)));
  waitpid(child, nullptr, 0);  // it goes into the background at once
  return writes;
}

// Between fork and exec only calls that are safe there: other threads may have held locks.
[[noreturn]] void become(const Launch& launch, char* const* arguments, char* const* environment, int record, int output,
                         int trouble) {
  char stat[1024];
  const int self = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  const ssize_t size = self < 0 ? -1 : read(self, stat, sizeof(stat));
  bool good = size > 0 && write(record, stat, static_cast<size_t>(size)) == size && fsync(record) == 0;
  sigset_t all;
  sigemptyset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_IGN);  // a file that is full is an error to the machine, not its end
  const rlimit largest{static_cast<rlim_t>(launch.largest_file), static_cast<rlim_t>(launch.largest_file)};
  if (launch.largest_file > 0) setrlimit(RLIMIT_FSIZE, &largest);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);  // a core would hold the guest's memory, secrets included
  setsid();
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  good = good && chdir(launch.folder.c_str()) == 0 && dup2(nothing, 0) == 0 && dup2(output, 1) == 1 &&
         dup2(output, 2) == 2;
  if (good) {
    syscall(SYS_close_range, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */);
    execve(arguments[0], arguments, environment);
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t told = write(trouble, &error, sizeof(error));
  _exit(127);
}

}  // namespace

absl::Status start_recorded(const Launch& launch) {
  const Fd record(open(launch.record.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600));
  Fd output(open(launch.output.c_str(), O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600));
  if (output.is_open() && !launch.console_keeper.empty()) {
    ASSIGN_OR_RETURN(output, start_console_keeper(launch.console_keeper, output.get()));
  }
  int ends[2];
  if (!record.is_open() || !output.is_open() || pipe2(ends, O_CLOEXEC) != 0) {
    return absl::UnavailableError(cat("cannot write in ", launch.folder, ": ", strerror(errno)));
  }
  const Fd hears(ends[0]);
  Fd tells(ends[1]);
  const std::string boot = boot_id();
  if (write(record.get(), boot.data(), boot.size()) != static_cast<ssize_t>(boot.size())) {
    return absl::UnavailableError(cat("cannot write ", launch.record, ": ", strerror(errno)));
  }
  const std::vector<char*> arguments = pointers(launch.arguments);
  const ChildEnvironment environment;  // a machine's monitor is the part that a guest may take over
  const pid_t child = fork();
  if (child < 0) return absl::ResourceExhaustedError(cat("cannot start a process: ", strerror(errno)));
  if (child == 0) become(launch, arguments.data(), environment.get(), record.get(), output.get(), tells.get());
  tells = Fd();
  int error = 0;
  if (read(hears.get(), &error, sizeof(error)) <= 0) return absl::OkStatus();
  waitpid(child, nullptr, 0);
  return absl::FailedPreconditionError(cat("cannot run ", launch.arguments[0], ": ", strerror(error)));
}

ProcessState process_state(const std::string& record) {
  if (is_alive(recorded(record))) return ProcessState::Running;
  // Of an earlier boot, or ended: something was there.
  return proc_text(record).size() > boot_id().size() ? ProcessState::Ended : ProcessState::NeverStarted;
}

int running_pid(const std::string& record) {
  const Identity who = recorded(record);
  return is_alive(who) ? who.pid : -1;
}

absl::Status end_process(const std::string& record) {
  const Identity who = recorded(record);
  if (!is_alive(who)) return absl::OkStatus();
  const Fd process(static_cast<int>(syscall(SYS_pidfd_open, who.pid, 0)));
  // Asked again now that the number cannot be given away any more.
  if (!process.is_open() || !is_alive(who)) return absl::OkStatus();
  if (syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0) != 0 && errno != ESRCH) {
    return absl::UnavailableError(cat("cannot kill process ", who.pid, ": ", strerror(errno)));
  }
  pollfd wait{process.get(), POLLIN, 0};
  poll(&wait, 1, kEndMillis);
  if (is_alive(who)) return absl::UnavailableError(cat("process ", who.pid, " was killed but does not exit"));
  return absl::OkStatus();
}

absl::Status run_program(const std::vector<std::string>& arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::UnavailableError(cat("pipe: ", strerror(errno)));
  const Fd out(ends[0]);
  Fd in(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, in.get(), STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  pid_t child = -1;
  const ChildEnvironment environment;
  const int error =
      posix_spawn(&child, arguments[0].c_str(), &actions, nullptr, pointers(arguments).data(), environment.get());
  posix_spawn_file_actions_destroy(&actions);
  in = Fd();
  if (error != 0) return absl::UnavailableError(cat("cannot run ", arguments[0], ": ", strerror(error)));
  std::string said;
  char piece[1024];
  for (ssize_t size = 0; (size = read(out.get(), piece, sizeof(piece))) > 0;) {
    if (said.size() < kMostOutput) said.append(piece, static_cast<size_t>(size));
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  return absl::UnavailableError(cat(arguments[0], " has failed: ", said));
}

}  // namespace hodei::providers::firecracker
