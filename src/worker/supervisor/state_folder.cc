#include "src/worker/supervisor/state_folder.h"

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
    return absl::FailedPreconditionError(cat("another worker (pid ", state.files_.read("lock"), ") is running in ",
                                             path, "; stop it, or use another folder with --state-dir"));
  }
  const std::string pid = std::to_string(getpid());
  if (ftruncate(state.lock_.get(), 0) != 0 ||
      pwrite(state.lock_.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return absl::ErrnoToStatus(errno, "writing " + lock);
  }
  RETURN_IF_ERROR(state.settle_lineage());
  // The processes of a worker that this folder was copied from are not ours to kill.
  state.mark_ = state.lineage_.is_copy ? "" : state.files_.read("mark");
  if (state.mark_.empty()) {
    state.mark_ = random_hex();
    RETURN_IF_ERROR(state.files_.write("mark", state.mark_));
  }
  state.incarnation_ = random_hex();
  RETURN_IF_ERROR(state.files_.write("incarnation", state.incarnation_));
  RETURN_IF_ERROR(state.files_.write("supervisor.pid", pid));
  return state;
}

absl::Status StateFolder::settle_lineage() {
  const std::string place = place_of(lock_.get());
  if (place.empty()) return absl::OkStatus();
  std::istringstream stored(files_.read("lineage"));
  std::string known, where;
  uint64_t count = 0;
  const bool has_one = static_cast<bool>(stored >> known >> where >> count);
  const bool same = has_one && where == place;
  lineage_.is_copy = has_one && !same;
  lineage_.id = same ? known : random_hex();
  lineage_.generation = same ? count + 1 : 1;
  return files_.write("lineage", cat(lineage_.id, " ", place, " ", lineage_.generation));
}

absl::Status StateFolder::begin_lineage() {
  if (lineage_.id.empty()) return absl::OkStatus();
  lineage_.id = random_hex();
  lineage_.generation = 1;
  return files_.write("lineage", cat(lineage_.id, " ", place_of(lock_.get()), " ", lineage_.generation));
}

absl::StatusOr<std::string> StateFolder::settle_worker_id(const std::string& wanted) {
  std::string id = wanted.empty() ? files_.read("worker_id") : wanted;
  if (id.empty()) id = from_host_name();
  RETURN_IF_ERROR(check_name("worker_id", id));
  // A session belongs to one worker id.
  if (const std::string stored = files_.read("worker_id"); stored != id) {
    files_.drop("session");
    RETURN_IF_ERROR(files_.write("worker_id", id));
  }
  return id;
}

void StateFolder::note_agent(int64_t pid) {
  if (pid == 0) {
    files_.drop("agent.pid");
  } else {
    files_.write("agent.pid", std::to_string(pid)).IgnoreError();
  }
}

bool StateFolder::is_there() const {
  struct stat held {
  }, found{};
  return fstat(lock_.get(), &held) == 0 && lstat(files_.path("lock").c_str(), &found) == 0 &&
         held.st_dev == found.st_dev && held.st_ino == found.st_ino;
}

void StateFolder::leave() {
  note_agent(0);
  files_.drop("supervisor.pid");
}

}  // namespace hodei::worker
