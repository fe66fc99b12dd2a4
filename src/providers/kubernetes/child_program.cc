#include "src/providers/kubernetes/child_program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "src/base/child_environment.h"
#include "src/base/pause.h"
#include "src/base/status.h"

namespace hodei::providers::kubernetes {
namespace {

constexpr size_t kKeptErrors = 4096;
constexpr Duration kLook = 5ms;  // between two looks whether a child that closed its output has ended

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_, O_CLOEXEC) != 0) ends_[0] = ends_[1] = -1;
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  bool ok() const { return ends_[0] >= 0; }
  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_end(int which) {
    if (ends_[which] >= 0) close(ends_[which]);
    ends_[which] = -1;
  }

 private:
  int ends_[2] = {-1, -1};
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

// In a group of its own, so that what it started can be ended with it.
absl::StatusOr<pid_t> spawn(const ChildProgram& program, const Pipe& output, const Pipe& errors) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output.writer(), 1);
  posix_spawn_file_actions_adddup2(&files, errors.writer(), 2);
  posix_spawn_file_actions_addclosefrom_np(&files, 3);  // also those that a library forgot to mark
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> words = program.command;
  const ChildEnvironment environment({}, {program.environment.begin(), program.environment.end()});
  pid_t pid = -1;
  const int error =
      posix_spawnp(&pid, words[0].c_str(), &files, &attributes, pointers(words).data(), environment.get());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return absl::NotFoundError(std::strerror(error));
  return pid;
}

// True: there is more to come.
bool drain(int fd, std::string& into, size_t most) {
  char piece[16 << 10];
  const ssize_t got = read(fd, piece, sizeof(piece));
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  into.append(piece, std::min(static_cast<size_t>(got), most - std::min(most, into.size())));
  return got > 0;
}

class Run {
 public:
  Run(const ChildProgram& program, pid_t pid) : program_(program), pid_(pid), end_(clock_.now().mono + program.time) {}

  absl::Status read_all(const Pipe& output, const Pipe& errors, ChildResult& result) {
    pollfd sources[] = {{output.reader(), POLLIN, 0}, {errors.reader(), POLLIN, 0}};
    while (sources[0].fd >= 0 || sources[1].fd >= 0) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - clock_.now().mono).count();
      if (left <= 0) return late();
      if (poll(sources, 2, static_cast<int>(left)) < 0 && errno != EINTR)
        return absl::InternalError(std::strerror(errno));
      if (sources[0].revents != 0 && !drain(sources[0].fd, result.output, program_.most_output + 1)) sources[0].fd = -1;
      if (sources[1].revents != 0 && !drain(sources[1].fd, result.errors, kKeptErrors)) sources[1].fd = -1;
      if (result.output.size() > program_.most_output) {
        return absl::ResourceExhaustedError(cat("it printed more than ", program_.most_output, " bytes"));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<int> exit_code() {
    int status = 0;
    while (true) {
      const pid_t ended = waitpid(pid_, &status, WNOHANG);
      if (ended == pid_) break;
      if (ended < 0 && errno != EINTR) return absl::InternalError(std::strerror(errno));
      if (clock_.now().mono >= end_) return late();
      pause_for(kLook);
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  void end() {
    if (pid_ < 0) return;
    kill(-pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

 private:
  absl::Status late() const {
    return absl::DeadlineExceededError(
        cat("it took longer than ", std::chrono::duration_cast<std::chrono::seconds>(program_.time).count(), " s"));
  }

  SystemClock clock_;
  const ChildProgram& program_;
  pid_t pid_;
  MonoTime end_;
};

}  // namespace

absl::StatusOr<ChildResult> run_child(const ChildProgram& program) {
  Pipe output, errors;
  if (!output.ok() || !errors.ok()) return absl::ResourceExhaustedError(std::strerror(errno));
  ASSIGN_OR_RETURN(const pid_t pid, spawn(program, output, errors));
  output.close_end(1);
  errors.close_end(1);
  Run run(program, pid);
  ChildResult result;
  absl::Status read = run.read_all(output, errors, result);
  absl::StatusOr<int> code = read.ok() ? run.exit_code() : absl::StatusOr<int>(read);
  run.end();
  if (!code.ok()) return code.status();
  result.exit_code = *code;
  return result;
}

}  // namespace hodei::providers::kubernetes
