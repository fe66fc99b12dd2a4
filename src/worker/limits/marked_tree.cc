// Enclosures without cgroups: a tree is its main process with all descendants, and what is left of them when it has
// ended.
//
// Where the kernel does not list our children, an orphan is known by the mark of its execution in its environment. Only
// there a process gets away that leaves its group, outlives its parents *and* wipes its environment.
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <optional>
#include <set>

#include "src/base/pause.h"
#include "src/base/text.h"
#include "src/worker/limits/enclosure.h"
#include "src/worker/limits/main_process.h"
#include "src/worker/system/process_table.h"

namespace hodei::worker {
namespace {

// Rounds that wait for processes which may or may not carry the mark.
constexpr int kUnclearRounds = 20;

class MarkedTree final : public Enclosure {
 public:
  explicit MarkedTree(std::shared_ptr<Orphans> orphans) : main_(std::move(orphans)) {}

  void assign(ExecutionId execution) override {
    pair_ = cat(kExecutionVariable, "=", to_string(execution));
    group_ = 0;
  }
  void entered(pid_t main) override {
    main_.entered(main);
    group_ = main;
  }
  void main_ended() override { main_.ended(); }
  void terminate() override { signal_all(SIGTERM); }
  void kill() override {
    if (is_empty()) return;
    signal_all(SIGKILL);
    main_.kill();
  }
  bool is_empty() override {
    if (main_.pid() != 0 || !group_is_empty()) return false;
    return main_.can_find_orphans() ? main_.has_left_nothing() : members().empty();
  }

 private:
  // Once empty the group's number may be given to strangers: it is not used again.
  bool group_is_empty() {
    if (group_ != 0 && ::kill(-group_, 0) != 0 && errno == ESRCH) group_ = 0;
    return group_ == 0;
  }
  void signal_all(int signal) {
    // The group first: it is one call, and reaches what is born while we look.
    if (!group_is_empty()) ::kill(-group_, signal);
    for (const pid_t pid : members()) ::kill(pid, signal);
  }
  std::set<pid_t> members() const {
    const std::map<pid_t, ProcessState> all = all_processes();
    const pid_t self = getpid();
    std::set<pid_t> found;
    for (const auto& [pid, process] : all) {
      if (process.zombie || process.parent != self) continue;
      if (pid == main_.pid() || carries(pid, pair_) == Carries::Yes) found.insert(pid);
    }
    return with_descendants(std::move(found), all);
  }

  MainProcess main_;
  std::string pair_;
  pid_t group_ = 0;
};

class MarkedTrees final : public Enclosures {
 public:
  explicit MarkedTrees(const EnclosureOptions& options) : mark_(options.mark), orphans_(orphans_of(options)) {}
  absl::StatusOr<int> kill_leftovers() override { return kill_marked(mark_); }
  absl::StatusOr<std::unique_ptr<Enclosure>> make() override { return std::make_unique<MarkedTree>(orphans_); }
  bool holds_all() const override { return false; }
  std::string describe() const override {
    if (access("/proc/self", F_OK) != 0)
      return "process groups only (no cgroups, no /proc): a process that leaves its group escapes";
    return "process groups and a mark in the environment (no cgroups)";
  }

 private:
  std::string mark_;
  std::shared_ptr<Orphans> orphans_;
};

}  // namespace

std::unique_ptr<Enclosures> make_marked_trees(const EnclosureOptions& options) {
  return std::make_unique<MarkedTrees>(options);
}

int kill_marked(const std::string& mark) {
  const std::string pair = cat(kMarkVariable, "=", mark);
  std::set<pid_t> met;
  int unclear_rounds = 0;
  for (int round = 0; round < 500; ++round) {
    std::set<pid_t> now;
    bool unclear = false;
    for (const auto& [pid, process] : all_processes()) {
      if (pid == getpid() || process.zombie || process.kernel_thread) continue;
      const Carries found = carries(pid, pair);
      if (found == Carries::Yes) now.insert(pid);
      unclear |= found == Carries::Unclear;
    }
    if (now.empty() && (!unclear || ++unclear_rounds > kUnclearRounds)) break;
    for (const pid_t pid : now) ::kill(pid, SIGKILL);
    met.insert(now.begin(), now.end());
    pause_for(round < 10 ? 1ms : 10ms);
  }
  return static_cast<int>(met.size());
}

}  // namespace hodei::worker
