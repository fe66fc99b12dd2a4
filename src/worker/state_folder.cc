#include "src/worker/state_folder.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "src/base/ids.h"
#include "src/base/status.h"

namespace hodei::worker {
namespace {

std::string random_hex() {
  unsigned char bytes[16] = {};
  HODEI_CHECK(getrandom(bytes, sizeof(bytes), 0) == sizeof(bytes));
  std::string out;
  for (const unsigned char byte : bytes) out += fmt::format("{:02x}", byte);
  return out;
}

// What tells one place from all others in which a copy of the folder could be: the boot of the machine, the processes
// that are seen from here, the file of the lock itself. Empty: it cannot be told.
std::string place_of(int lock) {
  struct stat file {};
  struct stat processes {};
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::string boot_id;
  if (!(boot >> boot_id) || fstat(lock, &file) != 0 || stat("/proc/self/ns/pid", &processes) != 0) return {};
  return cat(boot_id, "/", processes.st_dev, ":", processes.st_ino, "/", file.st_dev, ":", file.st_ino);
}

std::string from_host_name() {
  char host[256] = "worker";
  gethostname(host, sizeof(host) - 1);
  std::string id;
  for (const char* c = host; *c != '\0' && id.size() < 60; ++c) {
    const bool plain = isalnum(static_cast<unsigned char>(*c)) != 0 || ((*c == '-' || *c == '.') && !id.empty());
    if (plain) id.push_back(*c);
  }
  return cat(id.empty() ? "worker" : id, "-", random_hex().substr(0, 6));
}

}  // namespace

absl::StatusOr<StateFolder> StateFolder::open(const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (failed) return absl::InvalidArgumentError(cat("state folder ", path, ": ", failed.message()));
  chmod(path.c_str(), 0700);
  StateFolder state(path);
  const std::string lock = path + "/lock";
  state.lock_ = Fd(::open(lock.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!state.lock_.is_open()) return absl::ErrnoToStatus(errno, "opening " + lock);
  // Of the open file, not of the process; who only wants to know asks with F_OFD_GETLK and is in nobody's way.
  struct flock whole {};
  whole.l_type = F_WRLCK;
  if (fcntl(state.lock_.get(), F_OFD_SETLK, &whole) != 0) {
    return absl::FailedPreconditionError(cat("another worker (pid ", state.read("lock"), ") is running in ", path,
                                             "; stop it, or use another folder with --state-dir"));
  }
  const std::string pid = std::to_string(getpid());
  if (ftruncate(state.lock_.get(), 0) != 0 ||
      pwrite(state.lock_.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return absl::ErrnoToStatus(errno, "writing " + lock);
  }
  RETURN_IF_ERROR(state.settle_lineage());
  // The processes of a worker that this folder was copied from are not ours to kill.
  state.mark_ = state.is_copy_ ? "" : state.read("mark");
  if (state.mark_.empty()) {
    state.mark_ = random_hex();
    RETURN_IF_ERROR(state.write("mark", state.mark_));
  }
  state.incarnation_ = random_hex();
  RETURN_IF_ERROR(state.write("incarnation", state.incarnation_));
  RETURN_IF_ERROR(state.write("supervisor.pid", pid));
  return state;
}

absl::Status StateFolder::settle_lineage() {
  const std::string place = place_of(lock_.get());
  if (place.empty()) return absl::OkStatus();
  std::istringstream stored(read("lineage"));
  std::string known, where;
  uint64_t count = 0;
  const bool has_one = static_cast<bool>(stored >> known >> where >> count);
  const bool same = has_one && where == place;
  is_copy_ = has_one && !same;
  lineage_ = same ? known : random_hex();
  generation_ = same ? count + 1 : 1;
  return write("lineage", cat(lineage_, " ", place, " ", generation_));
}

absl::Status StateFolder::begin_lineage() {
  if (lineage_.empty()) return absl::OkStatus();
  lineage_ = random_hex();
  generation_ = 1;
  return write("lineage", cat(lineage_, " ", place_of(lock_.get()), " ", generation_));
}

absl::StatusOr<std::string> StateFolder::settle_worker_id(const std::string& wanted) {
  std::string id = wanted.empty() ? read("worker_id") : wanted;
  if (id.empty()) id = from_host_name();
  RETURN_IF_ERROR(check_name("worker_id", id));
  // A session belongs to one worker id.
  if (const std::string stored = read("worker_id"); stored != id) {
    unlink((path_ + "/session").c_str());
    RETURN_IF_ERROR(write("worker_id", id));
  }
  return id;
}

std::string StateFolder::read_bytes(const std::string& name) const {
  std::ifstream in(cat(path_, "/", name), std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return in ? text.str() : std::string();
}

absl::Status StateFolder::store_bytes(const std::string& name, const std::string& bytes) const {
  const std::string path = cat(path_, "/", name);
  const std::string fresh = path + ".new";
  const Fd fd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  bool written = fd.is_open();
  for (size_t done = 0; written && done < bytes.size();) {
    const ssize_t wrote = ::write(fd.get(), bytes.data() + done, bytes.size() - done);
    written = wrote > 0;
    done += static_cast<size_t>(std::max<ssize_t>(wrote, 0));
  }
  const Fd folder(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (written && fsync(fd.get()) == 0 && rename(fresh.c_str(), path.c_str()) == 0 && fsync(folder.get()) == 0) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, "writing " + path);
}

void StateFolder::drop_last_words() const {
  unlink((path_ + "/last_words").c_str());
  drop_last_output();
}

void StateFolder::drop_last_output() const { unlink((path_ + "/last_output").c_str()); }

void StateFolder::note_agent(int64_t pid) {
  if (pid == 0) {
    unlink((path_ + "/agent.pid").c_str());
  } else {
    write("agent.pid", std::to_string(pid)).IgnoreError();
  }
}

bool StateFolder::is_there() const {
  struct stat held {
  }, found{};
  return fstat(lock_.get(), &held) == 0 && lstat((path_ + "/lock").c_str(), &found) == 0 &&
         held.st_dev == found.st_dev && held.st_ino == found.st_ino;
}

void StateFolder::leave() {
  note_agent(0);
  unlink((path_ + "/supervisor.pid").c_str());
}

std::string StateFolder::read(const std::string& name) const {
  const Fd fd(::open((path_ + "/" + name).c_str(), O_RDONLY | O_CLOEXEC));
  char buffer[4096];
  const ssize_t got = fd.is_open() ? ::read(fd.get(), buffer, sizeof(buffer)) : 0;
  std::string text(buffer, static_cast<size_t>(std::max<ssize_t>(got, 0)));
  while (!text.empty() && isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  return text;
}

absl::Status StateFolder::write(const std::string& name, const std::string& text) const {
  const std::string path = path_ + "/" + name;
  const std::string fresh = path + ".new";
  const Fd fd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.is_open() || ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      rename(fresh.c_str(), path.c_str()) != 0) {
    return absl::ErrnoToStatus(errno, "writing " + path);
  }
  return absl::OkStatus();
}

}  // namespace hodei::worker
