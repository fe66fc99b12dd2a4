#include "src/worker/supervisor/spawn.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "src/base/status.h"
#include "src/worker/limits/sandbox.h"
#include "src/worker/supervisor/child_process.h"
#include "src/worker/supervisor/secret_files.h"
#include "src/worker/system/shortage.h"

namespace hodei::worker {
namespace {

Exit spawn_failed(std::string message) {
  return {.outcome = Outcome::Failed, .exit_code = 126, .failure = "spawn_failed", .message = std::move(message)};
}

Exit secret_error(std::string message) {
  return {.outcome = Outcome::Failed, .exit_code = 126, .failure = "secret_error", .message = std::move(message)};
}

// By its cause: what the machine lacks is not the job's fault.
Exit failed_by(int error, std::string message) {
  return is_shortage(error) ? not_started_here(std::move(message)) : spawn_failed(std::move(message));
}

Exit failed_by(const absl::Status& why, Exit (*otherwise)(std::string message)) {
  return is_shortage(why) ? not_started_here(std::string(why.message())) : otherwise(std::string(why.message()));
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

Exit explain(const Trouble& trouble, const std::string& name, const std::string& working_dir, bool has_memory_limit) {
  const int error = trouble.error;
  const std::string why = strerror(error);
  switch (trouble.stage) {
    case Stage::Sandbox:
      return failed_by(error, cat("sandbox: ", static_cast<const char*>(trouble.step), ": ", why,
                                  "; run the worker as root, or allow this part with --sandbox-allow"));
    case Stage::Limit: return failed_by(error, cat("resources.memory_mb: RLIMIT_DATA cannot be set: ", why));
    case Stage::Folder: return failed_by(error, cat("working_dir ", working_dir, ": ", why));
    case Stage::Exec:
      if (error == ENOENT) return not_found(cat(name, ": not found, or the interpreter in its first line is missing"));
      if (error == EACCES || error == EPERM) return not_permitted(cat(name, ": ", why));
      // Its own limit may be what it meets.
      if (error == ENOMEM && has_memory_limit) return spawn_failed(cat(name, ": ", why));
      return failed_by(error, cat(name, ": ", why));
    case Stage::Join: return not_started_here(cat("could not enter the execution's cgroup: ", why));
    default: return failed_by(error, cat("could not start a process: ", why));
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

// A file of this name that is already there may be a link, or be linked to from elsewhere: it is replaced, never
// written to.
absl::Status write_new_file(int folder, const Program::File& file) {
  unlinkat(folder, file.name.c_str(), 0);
  const Fd fd(openat(folder, file.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700));
  size_t done = 0;
  while (fd.is_open() && done < file.content.size()) {
    const ssize_t wrote = write(fd.get(), file.content.data() + done, file.content.size() - done);
    if (wrote <= 0) break;
    done += static_cast<size_t>(wrote);
  }
  if (fd.is_open() && done == file.content.size()) return absl::OkStatus();
  return errno_status(errno, "writing " + file.name);
}

absl::Status write_files(const Program& program, const SpawnPlace& place, const Sandbox* sandbox) {
  if (program.files.empty() && sandbox == nullptr) return absl::OkStatus();
  const Fd folder(open(place.folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.is_open()) return errno_status(errno, "opening " + place.folder);
  for (const Program::File& file : program.files) {
    RETURN_IF_ERROR(write_new_file(folder.get(), file));
    if (sandbox != nullptr) RETURN_IF_ERROR(sandbox->give(folder.get(), file.name));
  }
  return sandbox == nullptr ? absl::OkStatus() : sandbox->give(folder.get(), "cwd");
}

// Something that is at its end when it is read; an empty root has no /dev.
int open_null() {
  const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  int ends[2] = {};
  if (fd >= 0 || pipe2(ends, O_CLOEXEC) != 0) return fd;
  close(ends[1]);
  return ends[0];
}

// A sealed file in memory with all of the text: it cannot be changed, and it has no name.
absl::StatusOr<Fd> input_of(const Program& program) {
  Fd fd(memfd_create("hodei-input", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.is_open()) return errno_status(errno, "memfd_create for the job's input");
  size_t done = 0;
  while (done < program.input.size()) {
    const ssize_t wrote =
        pwrite(fd.get(), program.input.data() + done, program.input.size() - done, static_cast<off_t>(done));
    if (wrote <= 0) return errno_status(errno, "writing the job's input");
    done += static_cast<size_t>(wrote);
  }
  if (fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) {
    return absl::ErrnoToStatus(errno, "sealing the job's input");
  }
  return fd;
}

const InheritedEnvironment& no_environment() {
  static const InheritedEnvironment none;
  return none;
}

int null_input() {
  static const int fd = open_null();
  return fd;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> find_programs(const std::string& name, std::string_view path, bool all) {
  if (name.empty()) return absl::NotFoundError("no program is given");
  if (name.find('/') != std::string::npos) return std::vector{name};
  std::vector<std::string> found;
  bool seen = false;
  while (!path.empty()) {
    const size_t colon = path.find(':');
    const std::string_view folder = path.substr(0, colon);
    path.remove_prefix(colon == std::string_view::npos ? path.size() : colon + 1);
    if (folder.empty()) continue;  // an empty entry means the current folder: not followed
    std::string candidate = cat(folder, "/", name);
    struct stat info {};
    if (stat(candidate.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    seen = true;
    if (access(candidate.c_str(), X_OK) == 0) found.push_back(std::move(candidate));
    if (!all && !found.empty()) break;
  }
  if (!found.empty()) return found;
  if (seen) return absl::PermissionDeniedError(cat(name, ": found in PATH, but not executable"));
  return absl::NotFoundError(cat(name, ": not found in PATH"));
}

SpawnResult spawn(const Program& program, const SpawnPlace& place) {
  if (!program.impossible.empty()) return impossible(program);
  if (program.argv.empty()) return spawn_failed("there is no command to run");

  std::vector<std::string> argv = program.argv;
  for (std::string& text : argv) text = with_folder(std::move(text), place.folder);
  std::vector<std::string> env = program.env;
  env.push_back(cat(kMarkVariable, "=", place.mark));
  const InheritedEnvironment& inherited = place.inherited != nullptr ? *place.inherited : no_environment();
  absl::StatusOr<std::vector<std::string>> found = find_programs(argv[0], inherited.path(env), program.sandbox.enabled);
  if (absl::IsPermissionDenied(found.status())) return not_permitted(std::string(found.status().message()));
  if (!found.ok()) return not_found(std::string(found.status().message()));
  std::optional<Sandbox> sandbox;
  if (program.sandbox.enabled) {
    absl::StatusOr<Sandbox> prepared = Sandbox::prepare(program.sandbox, place.folder);
    if (!prepared.ok()) return failed_by(prepared.status(), spawn_failed);
    sandbox.emplace(std::move(*prepared));
  }
  if (absl::Status written = write_files(program, place, sandbox ? &*sandbox : nullptr); !written.ok()) {
    return failed_by(written, spawn_failed);
  }
  if (!program.secret_files.empty()) {
    const std::string secrets = secrets_folder(place.folder);
    if (absl::Status put = put_secret_files(secrets, program.secret_files, sandbox ? sandbox->uid() : geteuid());
        !put.ok()) {
      return failed_by(put, secret_error);
    }
    env.push_back(cat("HODEI_SECRETS=", secrets));
  }
  Fd input, input_end;
  if (program.streams_input) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return spawn_failed(cat("could not make a pipe: ", strerror(errno)));
    input = Fd(ends[0]);
    input_end = Fd(ends[1]);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
  } else if (!program.input.empty()) {
    absl::StatusOr<Fd> made = input_of(program);
    if (!made.ok()) return failed_by(made.status(), secret_error);
    input = std::move(*made);
  }

  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0) return failed_by(errno, cat("could not make a pipe: ", strerror(errno)));
  Spawned spawned{.pid = 0, .out = Fd(out[0]), .err = {}, .in = std::move(input_end)};
  const Fd child_out(out[1]);
  if (pipe2(err, O_CLOEXEC) != 0) return failed_by(errno, cat("could not make a pipe: ", strerror(errno)));
  spawned.err = Fd(err[0]);
  const Fd child_err(err[1]);
  fcntl(out[0], F_SETFL, O_NONBLOCK);
  fcntl(err[0], F_SETFL, O_NONBLOCK);

  const std::vector<char*> argv_pointers = pointers(argv);
  const std::vector<char*> env_pointers = inherited.with(env);
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
  if (child.trouble == nullptr) return failed_by(errno, cat("could not map memory: ", strerror(errno)));
  const std::vector<char*> path_pointers = pointers(*found);
  child.paths = path_pointers.data();
  child.argv = argv_pointers.data();
  child.env = env_pointers.data();
  child.working_dir = working_dir.c_str();
  thread_local LentFds lent;
  if (!lent.lend(input.is_open() ? input.get() : null_input(), child_out.get(), child_err.get())) {
    return failed_by(errno, cat("could not copy descriptors: ", strerror(errno)));
  }
  child.fds = &lent;
  child.join_files = join_files.data();
  child.join_count = join_files.size();
  child.data_limit = place.data_limit;
  child.sandbox = sandbox ? &*sandbox : nullptr;
  if (place.record != nullptr) {
    begin_record(*place.record, child_out.get(), child_err.get());
    child.record = &place.record->main;
  }
  spawned.pid = start_child(child, place.enclosure->birth_cgroup());
  if (place.record != nullptr) end_record(*place.record);
  lent.take_back();
  // A child that failed before it became the program has exited; the code that reaps children finds an unknown pid.
  if (child.trouble->stage != Stage::None) return explain(*child.trouble, argv[0], working_dir, place.data_limit > 0);
  return spawned;
}

}  // namespace hodei::worker
