#include "src/providers/process/process_look.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "src/base/pause.h"
#include "src/base/text.h"

namespace hodei::providers {
namespace {

namespace fs = std::filesystem;

constexpr int kKillRounds = 500;  // of 10 ms and less: a process that dumps core or waits for a disk dies slowly
constexpr int kUnclearRounds = 20;

std::string read_whole(const std::string& path) {
  std::string out;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return out;
  char buffer[8192];
  for (ssize_t got = 0; (got = read(fd, buffer, sizeof(buffer))) > 0;) out.append(buffer, static_cast<size_t>(got));
  close(fd);
  return out;
}

struct Stat {
  char letter = 0;
  uint64_t started = 0;
  bool kernel_thread = false;
  bool no_environment = false;  // it has wiped it, or it is not for us to see
};

// The fields of /proc/<pid>/stat behind the name, counted as proc(5) does.
Stat stat_of(pid_t pid) {
  const std::string text = read_whole(cat("/proc/", pid, "/stat"));
  const size_t name_end = text.rfind(')');  // the name itself may hold anything
  if (name_end == std::string::npos) return {};
  std::istringstream in(text.substr(name_end + 1));
  Stat out;
  in >> out.letter;
  std::string word;
  uint64_t code = 0, environment = 0, environment_end = 0;
  for (int field = 4; field <= 51 && in >> word; ++field) {
    uint64_t value = 0;
    std::from_chars(word.data(), word.data() + word.size(), value);
    if (field == 9) out.kernel_thread = (value & 0x00200000) != 0;  // PF_KTHREAD
    if (field == 22) out.started = value;
    if (field == 26) code = value;
    if (field == 50) environment = value;
    if (field == 51) environment_end = value;
  }
  // Where its code starts is 1 for those who may not know. A new program has an environment before it has code.
  out.no_environment = code == 1 || (code != 0 && environment_end != 0 && environment == environment_end);
  return out;
}

enum class Carries : uint8_t { No, Yes, Unclear };

Carries carries(pid_t pid, const std::vector<Marks>& any_of) {
  const std::string environment = '\0' + read_whole(cat("/proc/", pid, "/environ"));
  // In the moment in which a process becomes another program it has none.
  if (environment.size() <= 1) return Carries::Unclear;
  for (const Marks& marks : any_of) {
    bool all = true;
    for (const std::string& mark : marks) all = all && environment.find('\0' + mark + '\0') != std::string::npos;
    if (all) return Carries::Yes;
  }
  return Carries::No;
}

struct Found {
  std::set<pid_t> carriers;
  bool unclear = false;
};

Found look_for(const std::vector<Marks>& any_of) {
  Found found;
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return found;
  while (const dirent* entry = readdir(proc)) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size() ||
        pid == getpid())
      continue;
    const Carries has = carries(pid, any_of);
    if (has == Carries::No) continue;
    const Stat stat = stat_of(pid);
    if (stat.letter == 0 || stat.letter == 'Z' || stat.letter == 'X' || stat.kernel_thread) continue;
    if (has == Carries::Yes) found.carriers.insert(pid);
    found.unclear = found.unclear || (has == Carries::Unclear && !stat.no_environment);
  }
  closedir(proc);
  return found;
}

class PidFd {
 public:
  // Opened first and compared then: what it names cannot change any more.
  explicit PidFd(const ProcessName& process) : fd_(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0))) {
    if (fd_ >= 0 && name_of(process.pid) != process) {
      close(fd_);
      fd_ = -1;
    }
  }
  ~PidFd() {
    if (fd_ >= 0) close(fd_);
  }
  PidFd(const PidFd&) = delete;
  PidFd& operator=(const PidFd&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

std::vector<fs::path> with_subfolders(const fs::path& folder) {
  std::vector<fs::path> all;
  std::error_code failed;
  if (!fs::is_directory(folder, failed)) return all;
  all.push_back(folder);
  for (fs::recursive_directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    if (it->is_directory(failed)) all.push_back(it->path());
  }
  return all;
}

// Where a worker makes groups: the unified hierarchy, and each of version 1.
std::vector<fs::path> group_folders(const std::string& group) {
  std::vector<fs::path> out;
  const fs::path root = "/sys/fs/cgroup";
  std::error_code failed;
  if (fs::is_directory(root / "hodei" / group, failed)) out.push_back(root / "hodei" / group);
  for (fs::directory_iterator it(root, failed), end; !failed && it != end; it.increment(failed)) {
    std::error_code ignored;
    if (fs::is_directory(it->path() / "hodei" / group, ignored)) out.push_back(it->path() / "hodei" / group);
  }
  return out;
}

std::string as_text(int status) {
  if (WIFEXITED(status)) return cat("exit code ", WEXITSTATUS(status));
  return cat("signal ", WTERMSIG(status));
}

}  // namespace

std::string boot_id() {
  std::string id = read_whole("/proc/sys/kernel/random/boot_id");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

ProcessName name_of(pid_t pid) { return {.pid = pid, .started = pid > 0 ? stat_of(pid).started : 0}; }

ProcessState state_of(const ProcessName& process) {
  if (process.pid <= 0) return ProcessState::Gone;
  const Stat now = stat_of(process.pid);
  if (now.letter == 0 || now.started != process.started) return ProcessState::Gone;
  return now.letter == 'Z' || now.letter == 'X' ? ProcessState::Zombie : ProcessState::Alive;
}

std::set<pid_t> marked_processes(const std::vector<Marks>& any_of) {
  Found found = look_for(any_of);
  for (int round = 0; found.unclear && found.carriers.empty() && round < kUnclearRounds; ++round) {
    pause_for(1ms);
    found = look_for(any_of);
  }
  return std::move(found.carriers);
}

bool signal_process(const ProcessName& process, int signal) {
  const PidFd fd(process);
  return fd.get() >= 0 && syscall(SYS_pidfd_send_signal, fd.get(), signal, nullptr, 0) == 0;
}

bool wait_for_end(const ProcessName& process, Duration limit) {
  const PidFd fd(process);
  if (fd.get() < 0) return true;
  const SystemClock clock;
  const MonoTime deadline = clock.now().mono + limit;
  pollfd ended{.fd = fd.get(), .events = POLLIN, .revents = 0};
  while (true) {
    const Duration left = deadline - clock.now().mono;
    const int ms = static_cast<int>(std::max<int64_t>(0, (left.count() + 999) / 1000));
    const int got = poll(&ended, 1, ms);
    if (got > 0) return true;
    if (got == 0 || errno != EINTR) return false;
  }
}

std::string reap(const ProcessName& process) {
  // A number cannot be given away before its remains are removed: this is the one that was looked at.
  if (state_of(process) != ProcessState::Zombie) return {};
  int status = 0;
  return waitpid(process.pid, &status, WNOHANG) == process.pid ? as_text(status) : std::string();
}

bool kill_marked_processes(const std::vector<Marks>& any_of) {
  int unclear_rounds = 0;
  for (int round = 0; round < kKillRounds; ++round) {
    const Found found = look_for(any_of);
    if (found.carriers.empty() && (!found.unclear || ++unclear_rounds > kUnclearRounds)) return true;
    for (const pid_t pid : found.carriers) kill(pid, SIGKILL);
    pause_for(round < 10 ? 1ms : 10ms);
  }
  return false;
}

bool kill_control_groups(const std::string& group) {
  if (group.empty() || group.find('/') != std::string::npos || group.starts_with('.')) return true;
  for (int round = 0; round < kKillRounds; ++round) {
    const std::vector<fs::path> folders = group_folders(group);
    if (folders.empty()) return true;
    for (const fs::path& folder : folders) {
      const std::vector<fs::path> all = with_subfolders(folder);
      // What is frozen cannot die.
      std::ofstream(folder / "freezer.state") << "THAWED";
      std::ofstream(folder / "cgroup.freeze") << "0";
      for (const fs::path& each : all) {
        std::ifstream members(each / "cgroup.procs");
        for (pid_t pid = 0; members >> pid;) {
          if (pid > 0) kill(pid, SIGKILL);
        }
      }
      for (auto it = all.rbegin(); it != all.rend(); ++it) rmdir(it->c_str());
    }
    pause_for(round < 10 ? 1ms : 10ms);
  }
  return false;
}

}  // namespace hodei::providers
