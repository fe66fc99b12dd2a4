#include "src/worker/spawn.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <optional>

#include "src/base/status.h"
#include "src/worker/sandbox.h"
#include "src/worker/secret_files.h"

namespace hodei::worker {
namespace {

enum class Stage : uint8_t { None, Clone, Join, Limit, Sandbox, Folder, Exec };

// What went wrong in the child. In memory that both see.
struct Trouble {
  volatile Stage stage = Stage::None;
  volatile int error = 0;
  const char* volatile step = nullptr;   // of the sandbox
};

// All that the child needs, prepared before it exists: it may not allocate.
struct Child {
  const char* const* paths = nullptr;    // tried in turn, up to a null
  char* const* argv = nullptr;
  char* const* env = nullptr;
  const char* working_dir = nullptr;
  int in = -1, out = -1, err = -1;
  const int* join_files = nullptr;       // cgroups v1
  size_t join_count = 0;
  int cgroup = -1;                       // cgroup v2 that it was not born in
  int64_t data_limit = 0;                // where no cgroup limits its memory
  const Sandbox* sandbox = nullptr;
  Trouble* trouble = nullptr;
};

[[noreturn]] void fail(const Child& child, Stage stage) {
  child.trouble->error = errno;
  child.trouble->stage = stage;
  _exit(127);
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
  for (size_t i = 0; i < child.join_count; ++i) {
    if (write(child.join_files[i], "0", 1) != 1) fail(child, Stage::Join);
  }
  if (child.cgroup >= 0) {
    const int procs = openat(child.cgroup, "cgroup.procs", O_WRONLY | O_CLOEXEC);
    if (procs < 0 || write(procs, "0", 1) != 1) fail(child, Stage::Join);
  }
  setsid();
  const char* step = nullptr;
  if (child.sandbox != nullptr && !child.sandbox->enter(&step)) {
    child.trouble->step = step;
    fail(child, Stage::Sandbox);
  }
  if (chdir(child.working_dir) != 0) fail(child, Stage::Folder);
  dup2(child.in, STDIN_FILENO);
  dup2(child.out, STDOUT_FILENO);
  dup2(child.err, STDERR_FILENO);
  struct sigaction defaults {};
  defaults.sa_handler = SIG_DFL;
  sigaction(SIGPIPE, &defaults, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  limit_data(child);
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
// memory may be used for. In both cases we go on only when it has become the program or has ended.
uint64_t clone_flags(const Child& child) { return CLONE_VFORK | (child.sandbox == nullptr ? CLONE_VM : 0); }

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
  const pid_t pid = child.sandbox == nullptr ? vfork() : static_cast<pid_t>(syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0));
  if (pid == 0) become_program(child);
  return pid;
}

pid_t start(Child& child, int cgroup) {
  // No signal may run a handler in the child while it shares our memory.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  long pid = clone_into(child, cgroup);
  if (pid == -ENOSYS || pid == -EPERM || pid == -EINVAL) {   // an old kernel, or a filter such as Docker's
    child.cgroup = cgroup;
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

// Trouble that a child with memory of its own can tell.
class SharedTrouble {
 public:
  SharedTrouble() : memory_(mmap(nullptr, sizeof(Trouble), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ != MAP_FAILED) new (memory_) Trouble();
  }
  ~SharedTrouble() {
    if (memory_ != MAP_FAILED) munmap(memory_, sizeof(Trouble));
  }
  SharedTrouble(const SharedTrouble&) = delete;
  SharedTrouble& operator=(const SharedTrouble&) = delete;
  Trouble* get() const { return memory_ == MAP_FAILED ? nullptr : static_cast<Trouble*>(memory_); }

 private:
  void* memory_;
};

Exit spawn_failed(std::string message) {
  return {.outcome = Outcome::Failed, .exit_code = 126, .failure = "spawn_failed", .message = std::move(message)};
}

Exit secret_error(std::string message) {
  return {.outcome = Outcome::Failed, .exit_code = 126, .failure = "secret_error", .message = std::move(message)};
}

Exit impossible(const Program& program) {
  Exit exit = spawn_failed(program.impossible);
  if (!program.impossible_failure.empty()) exit.failure = program.impossible_failure;
  return exit;
}

Exit not_found(std::string message) {
  return {.outcome = Outcome::Failed, .exit_code = 127, .failure = "command_not_found", .message = std::move(message)};
}

Exit not_permitted(std::string message) {
  return {.outcome = Outcome::Failed, .exit_code = 126, .failure = "permission_denied", .message = std::move(message)};
}

Exit explain(const Trouble& trouble, const std::string& name, const std::string& working_dir) {
  const int error = trouble.error;
  const std::string why = strerror(error);
  switch (trouble.stage) {
    case Stage::Sandbox:
      return spawn_failed(cat("sandbox: ", static_cast<const char*>(trouble.step), ": ", why,
                              "; run the worker as root, or leave this part of the sandbox out"));
    case Stage::Limit: return spawn_failed(cat("resources.memory_mb: RLIMIT_DATA cannot be set: ", why));
    case Stage::Folder: return spawn_failed(cat("working_dir ", working_dir, ": ", why));
    case Stage::Exec:
      if (error == ENOENT) return not_found(cat(name, ": not found, or the interpreter in its first line is missing"));
      if (error == EACCES || error == EPERM) return not_permitted(cat(name, ": ", why));
      return spawn_failed(cat(name, ": ", why));
    case Stage::Join: return spawn_failed(cat("could not enter the execution's cgroup: ", why));
    default: return spawn_failed(cat("could not start a process: ", why));
  }
}

std::string with_folder(std::string text, const std::string& folder) {
  for (size_t at = text.find(kFolderMark); at != std::string::npos; at = text.find(kFolderMark, at)) {
    text.replace(at, kFolderMark.size(), folder);
    at += folder.size();
  }
  return text;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

absl::Status write_files(const Program& program, const SpawnPlace& place, const Sandbox* sandbox) {
  for (const Program::File& file : program.files) {
    const std::string path = cat(place.folder, "/", file.name);
    const Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0700));
    size_t done = 0;
    while (fd.is_open() && done < file.content.size()) {
      const ssize_t wrote = write(fd.get(), file.content.data() + done, file.content.size() - done);
      if (wrote <= 0) break;
      done += static_cast<size_t>(wrote);
    }
    if (!fd.is_open() || done < file.content.size()) return absl::ErrnoToStatus(errno, "writing " + path);
    if (sandbox != nullptr) RETURN_IF_ERROR(sandbox->give(path));
  }
  return sandbox == nullptr ? absl::OkStatus() : sandbox->give(place.working_dir);
}

// Something that is at its end when it is read; an empty root has no /dev.
int open_null() {
  const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  int ends[2] = {};
  if (fd >= 0 || pipe2(ends, O_CLOEXEC) != 0) return fd;
  close(ends[1]);
  return ends[0];
}

// All of it at once, whoever reads it and when: a file in memory that nobody can change or find by a name.
absl::StatusOr<Fd> input_of(const Program& program) {
  Fd fd(memfd_create("hodei-input", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.is_open()) return absl::ErrnoToStatus(errno, "memfd_create for the job's input");
  size_t done = 0;
  while (done < program.input.size()) {
    const ssize_t wrote = pwrite(fd.get(), program.input.data() + done, program.input.size() - done, static_cast<off_t>(done));
    if (wrote <= 0) return absl::ErrnoToStatus(errno, "writing the job's input");
    done += static_cast<size_t>(wrote);
  }
  if (fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) {
    return absl::ErrnoToStatus(errno, "sealing the job's input");
  }
  return fd;
}

int null_input() {
  static const int fd = open_null();
  return fd;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> find_programs(const std::string& name, std::string_view path, bool all) {
  if (name.empty()) return absl::NotFoundError("no program is named");
  if (name.find('/') != std::string::npos) return std::vector{name};
  std::vector<std::string> found;
  bool seen = false;
  while (!path.empty()) {
    const size_t colon = path.find(':');
    const std::string_view folder = path.substr(0, colon);
    path.remove_prefix(colon == std::string_view::npos ? path.size() : colon + 1);
    if (folder.empty()) continue;   // an empty entry means the current folder: not followed
    std::string candidate = cat(folder, "/", name);
    struct stat info {};
    if (stat(candidate.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    seen = true;
    if (access(candidate.c_str(), X_OK) == 0) found.push_back(std::move(candidate));
    if (!all && !found.empty()) break;
  }
  if (!found.empty()) return found;
  if (seen) return absl::PermissionDeniedError(cat(name, ": found in PATH, but may not be executed"));
  return absl::NotFoundError(cat(name, ": not found in PATH"));
}

SpawnResult spawn(const Program& program, const SpawnPlace& place) {
  if (!program.impossible.empty()) return impossible(program);
  if (program.argv.empty()) return spawn_failed("there is no command to run");

  std::vector<std::string> argv = program.argv;
  for (std::string& text : argv) text = with_folder(std::move(text), place.folder);
  std::vector<std::string> env = program.env;
  env.push_back(cat(kMarkVariable, "=", place.mark));
  std::string_view path = "/usr/local/bin:/usr/bin:/bin";
  for (const std::string& pair : env) {
    if (pair.starts_with("PATH=")) path = std::string_view(pair).substr(5);
  }
  absl::StatusOr<std::vector<std::string>> found = find_programs(argv[0], path, program.sandbox.enabled);
  if (absl::IsPermissionDenied(found.status())) return not_permitted(std::string(found.status().message()));
  if (!found.ok()) return not_found(std::string(found.status().message()));
  std::optional<Sandbox> sandbox;
  if (program.sandbox.enabled) {
    absl::StatusOr<Sandbox> prepared = Sandbox::prepare(program.sandbox, place.folder);
    if (!prepared.ok()) return spawn_failed(std::string(prepared.status().message()));
    sandbox.emplace(std::move(*prepared));
  }
  if (absl::Status written = write_files(program, place, sandbox ? &*sandbox : nullptr); !written.ok()) {
    return spawn_failed(std::string(written.message()));
  }
  if (!program.secret_files.empty()) {
    const std::string secrets = secrets_folder(place.folder);
    if (absl::Status put = put_secret_files(secrets, program.secret_files, sandbox ? sandbox->uid() : geteuid()); !put.ok()) {
      return secret_error(std::string(put.message()));
    }
    env.push_back(cat("HODEI_SECRETS=", secrets));
  }
  Fd input;
  if (!program.input.empty()) {
    absl::StatusOr<Fd> made = input_of(program);
    if (!made.ok()) return secret_error(std::string(made.status().message()));
    input = std::move(*made);
  }

  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0) return spawn_failed(cat("could not make a pipe: ", strerror(errno)));
  Spawned spawned{.pid = 0, .out = Fd(out[0]), .err = {}};
  const Fd child_out(out[1]);
  if (pipe2(err, O_CLOEXEC) != 0) return spawn_failed(cat("could not make a pipe: ", strerror(errno)));
  spawned.err = Fd(err[0]);
  const Fd child_err(err[1]);
  fcntl(out[0], F_SETFL, O_NONBLOCK);
  fcntl(err[0], F_SETFL, O_NONBLOCK);

  const std::vector<char*> argv_pointers = pointers(argv);
  const std::vector<char*> env_pointers = pointers(env);
  const std::string& working_dir = program.working_dir.empty() ? place.working_dir : program.working_dir;
  std::vector<int> join_files;
  for (const int file : {place.enclosure->join_file(), place.enclosure->limit_file()}) {
    if (file >= 0) join_files.push_back(file);
  }
  if (place.group != nullptr) {
    for (const int file : place.group->join_files()) join_files.push_back(file);
  }
  Trouble own;
  std::optional<SharedTrouble> shared;
  Child child;
  child.trouble = sandbox ? shared.emplace().get() : &own;
  if (child.trouble == nullptr) return spawn_failed(cat("could not map memory: ", strerror(errno)));
  const std::vector<char*> path_pointers = pointers(*found);
  child.paths = path_pointers.data();
  child.argv = argv_pointers.data();
  child.env = env_pointers.data();
  child.working_dir = working_dir.c_str();
  child.in = input.is_open() ? input.get() : null_input();
  child.out = child_out.get();
  child.err = child_err.get();
  child.join_files = join_files.data();
  child.join_count = join_files.size();
  child.data_limit = place.data_limit;
  child.sandbox = sandbox ? &*sandbox : nullptr;
  spawned.pid = start(child, place.enclosure->birth_cgroup());
  // A child that failed before it became the program has exited; whoever reaps children finds a pid it does not know.
  if (child.trouble->stage != Stage::None) return explain(*child.trouble, argv[0], working_dir);
  return spawned;
}

}  // namespace hodei::worker
