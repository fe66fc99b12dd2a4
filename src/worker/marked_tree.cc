// Enclosures without cgroups: a tree is the descendants of its main process, and the orphans that carry its mark.
//
// The supervisor is a subreaper, so every orphan of a job becomes its child: as long as it has no unknown child and the
// job's process group is empty, nothing of the job is left. A process that leaves its group, loses its parents *and*
// wipes its environment can only be found by its parent, which is us: it is killed once no other job could own it.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <map>
#include <set>

#include "src/base/text.h"
#include "src/worker/enclosure.h"
#include "src/worker/fd.h"

namespace hodei::worker {
namespace {

std::string read_all(const std::string& path) {
  std::string text;
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char buffer[8192];
  for (ssize_t got = 1; fd.is_open() && (got = read(fd.get(), buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<size_t>(got));
  }
  return text;
}

// True if the process was given NAME=value in its environment.
bool carries(pid_t pid, const std::string& pair) {
  const std::string environ = '\0' + read_all(cat("/proc/", pid, "/environ"));
  return environ.find('\0' + pair + '\0') != std::string::npos;
}

struct Process {
  pid_t parent = 0;
  bool zombie = false;
};

std::map<pid_t, Process> all_processes() {
  std::map<pid_t, Process> all;
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return all;
  while (const dirent* entry = readdir(proc)) {
    pid_t pid = 0;
    const std::string_view name = entry->d_name;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size()) continue;
    const std::string stat = read_all(cat("/proc/", pid, "/stat"));
    const size_t after_name = stat.rfind(')');   // the name itself may hold anything
    if (after_name == std::string::npos || after_name + 4 >= stat.size()) continue;
    Process process{.zombie = stat[after_name + 2] == 'Z' || stat[after_name + 2] == 'X'};
    std::from_chars(stat.data() + after_name + 4, stat.data() + stat.size(), process.parent);
    all[pid] = process;
  }
  closedir(proc);
  return all;
}

class MarkedTree final : public Enclosure {
 public:
  void assign(ExecutionId execution) override {
    pair_ = cat(kExecutionVariable, "=", to_string(execution));
    main_ = 0;
  }
  void terminate() override { signal_all(SIGTERM); }
  void kill() override { signal_all(SIGKILL); }
  bool is_empty() override { return group_is_empty() && members().empty(); }

 private:
  bool group_is_empty() const { return main_ <= 0 || (::kill(-main_, 0) != 0 && errno == ESRCH); }

  void signal_all(int signal) {
    // The group first: it is one call, and reaches what is born while we look.
    if (main_ > 0) ::kill(-main_, signal);
    for (const pid_t pid : members()) ::kill(pid, signal);
  }

  std::set<pid_t> members() const {
    const std::map<pid_t, Process> all = all_processes();
    const pid_t self = getpid();
    std::set<pid_t> found;
    for (const auto& [pid, process] : all) {
      if (process.zombie || pid == self) continue;
      if (pid == main_ || (process.parent == self && carries(pid, pair_))) found.insert(pid);
    }
    for (bool grew = !found.empty(); grew;) {
      grew = false;
      for (const auto& [pid, process] : all) {
        if (!process.zombie && found.contains(process.parent)) grew = found.insert(pid).second || grew;
      }
    }
    return found;
  }

  std::string pair_;
};

class MarkedTrees final : public Enclosures {
 public:
  explicit MarkedTrees(std::string mark) : mark_(std::move(mark)) {}
  absl::StatusOr<int> kill_leftovers() override { return kill_marked(mark_); }
  absl::StatusOr<std::unique_ptr<Enclosure>> make() override { return std::make_unique<MarkedTree>(); }
  std::string describe() const override { return "process groups and a mark in the environment (no cgroups)"; }

 private:
  std::string mark_;
};

}  // namespace

std::unique_ptr<Enclosures> make_marked_trees(const EnclosureOptions& options) {
  return std::make_unique<MarkedTrees>(options.mark);
}

int kill_marked(const std::string& mark) {
  const std::string pair = cat(kMarkVariable, "=", mark);
  std::set<pid_t> met;
  for (int round = 0; round < 500; ++round) {
    std::set<pid_t> now;
    for (const auto& [pid, process] : all_processes()) {
      if (pid != getpid() && !process.zombie && carries(pid, pair)) now.insert(pid);
    }
    if (now.empty()) break;
    for (const pid_t pid : now) ::kill(pid, SIGKILL);
    met.insert(now.begin(), now.end());
    usleep(round < 10 ? 1000 : 10'000);
  }
  return static_cast<int>(met.size());
}

}  // namespace hodei::worker
