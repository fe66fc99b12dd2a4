// Enclosures without cgroups: a tree is the descendants of its main process, and the orphans that carry its mark.
//
// The supervisor is a subreaper, so every orphan of a job becomes its child: when the job's process group is empty and no
// child of ours carries its mark, nothing of the job is left. What this kind cannot find is a process that leaves its
// group, outlives its parents *and* wipes its environment; cgroups can.
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <optional>
#include <set>

#include "src/base/pause.h"
#include "src/base/text.h"
#include "src/worker/enclosure.h"
#include "src/worker/process_table.h"

namespace hodei::worker {
namespace {

// How often the children are looked at again because they changed meanwhile; then the tree counts as alive.
constexpr int kMostLooks = 3;
// Rounds that wait for processes which may or may not carry the mark.
constexpr int kUnclearRounds = 20;

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
  // The kernel's list of children may skip some while others end, and an orphan becomes ours only in the moment in which
  // its parent has ended: that nothing was found counts only if the list is the same before and after the search.
  bool has_orphan() const {
    std::optional<std::set<pid_t>> children = own_children();
    if (!children) return !members().empty();
    for (int look = 0; look < kMostLooks; ++look) {
      for (const pid_t pid : *children) {
        if (!mains_->contains(pid) && carries(pid, pair_) != Carries::No) return true;
      }
      std::optional<std::set<pid_t>> after = own_children();
      if (after == children) return false;
      children = std::move(after);
    }
    return true;
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
      if (pid == main_ || carries(pid, pair_) == Carries::Yes) found.insert(pid);
    }
    return with_descendants(std::move(found), all);
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
