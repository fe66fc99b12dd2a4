// Enclosures without cgroups: a tree is the descendants of its main process, and the orphans that carry its mark.
//
// The supervisor is a subreaper, so every orphan of a job becomes its child: when the job's process group is empty and no
// child of ours carries its mark, nothing of the job is left. What this kind cannot find is a process that leaves its
// group, outlives its parents *and* wipes its environment; cgroups can.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "src/base/pause.h"
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

// The numbers in a file such as /proc/<pid>/task/<tid>/children.
std::vector<pid_t> numbers_in(const std::string& path) {
  const std::string text = read_all(path);
  std::vector<pid_t> out;
  const char* at = text.data();
  const char* end = at + text.size();
  pid_t pid = 0;
  while (at < end) {
    const auto parsed = std::from_chars(at, end, pid);
    if (parsed.ec != std::errc()) break;
    out.push_back(pid);
    at = parsed.ptr + 1;
  }
  return out;
}

// Children of this process, whichever thread made them. None: the kernel does not tell.
std::optional<std::vector<pid_t>> own_children() {
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr || access("/proc/thread-self/children", R_OK) != 0) {
    if (tasks != nullptr) closedir(tasks);
    return std::nullopt;
  }
  std::vector<pid_t> all;
  while (const dirent* entry = readdir(tasks)) {
    if (entry->d_name[0] == '.') continue;
    for (const pid_t pid : numbers_in(cat("/proc/self/task/", entry->d_name, "/children"))) all.push_back(pid);
  }
  closedir(tasks);
  return all;
}

// Main processes that are alive: children that need no second look. Shared by all trees of a worker, on one thread.
using KnownMains = std::set<pid_t>;

class MarkedTree final : public Enclosure {
 public:
  explicit MarkedTree(std::shared_ptr<KnownMains> mains) : mains_(std::move(mains)) {}

  void assign(ExecutionId execution) override {
    pair_ = cat(kExecutionVariable, "=", to_string(execution));
    group_ = 0;
  }
  void entered(pid_t main) override {
    main_ = group_ = main;
    mains_->insert(main);
  }
  void main_ended() override {
    mains_->erase(main_);
    main_ = 0;
  }
  void terminate() override { signal_all(SIGTERM); }
  void kill() override {
    if (!is_empty()) signal_all(SIGKILL);
  }
  bool is_empty() override { return main_ == 0 && group_is_empty() && !has_orphan(); }

 private:
  // Once empty the group's number may be given to strangers: it is not used again.
  bool group_is_empty() {
    if (group_ != 0 && ::kill(-group_, 0) != 0 && errno == ESRCH) group_ = 0;
    return group_ == 0;
  }
  bool has_orphan() const {
    const std::optional<std::vector<pid_t>> children = own_children();
    if (!children) return !members().empty();
    for (const pid_t pid : *children) {
      if (!mains_->contains(pid) && carries(pid, pair_)) return true;
    }
    return false;
  }
  void signal_all(int signal) {
    // The group first: it is one call, and reaches what is born while we look.
    if (!group_is_empty()) ::kill(-group_, signal);
    for (const pid_t pid : members()) ::kill(pid, signal);
  }
  std::set<pid_t> members() const {
    const std::map<pid_t, Process> all = all_processes();
    const pid_t self = getpid();
    std::set<pid_t> found;
    for (const auto& [pid, process] : all) {
      if (process.zombie || process.parent != self) continue;
      if (pid == main_ || carries(pid, pair_)) found.insert(pid);
    }
    for (bool grew = !found.empty(); grew;) {
      grew = false;
      for (const auto& [pid, process] : all) {
        if (!process.zombie && found.contains(process.parent)) grew = found.insert(pid).second || grew;
      }
    }
    return found;
  }

  std::shared_ptr<KnownMains> mains_;
  std::string pair_;
  pid_t main_ = 0;
  pid_t group_ = 0;
};

class MarkedTrees final : public Enclosures {
 public:
  explicit MarkedTrees(std::string mark) : mark_(std::move(mark)) {}
  absl::StatusOr<int> kill_leftovers() override { return kill_marked(mark_); }
  absl::StatusOr<std::unique_ptr<Enclosure>> make() override { return std::make_unique<MarkedTree>(mains_); }
  std::string describe() const override {
    if (access("/proc/self", F_OK) != 0) return "process groups alone (no cgroups, no /proc): who leaves its group gets away";
    return "process groups and a mark in the environment (no cgroups)";
  }

 private:
  std::string mark_;
  std::shared_ptr<KnownMains> mains_ = std::make_shared<KnownMains>();
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
    pause_for(round < 10 ? 1ms : 10ms);
  }
  return static_cast<int>(met.size());
}

}  // namespace hodei::worker
