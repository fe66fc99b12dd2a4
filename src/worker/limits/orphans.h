// Processes that jobs left behind.
//
// The main process of every job is a subreaper: while it lives, a descendant that loses its parent becomes its child,
// whatever cgroup, session, process group or environment it has chosen for itself. When the main process has ended they
// all become children of the supervisor, which is a subreaper too. So a child of the supervisor that it did not start
// was left by a job whose main process has ended, and has no right to live. This holds for a process that has left its
// cgroup and wiped its environment.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "src/worker/limits/enclosure.h"
#include "src/worker/system/small_files.h"

namespace hodei::worker {

// On the thread of main(), in a process that is a subreaper.
class Orphans {
 public:
  Orphans();

  // Children that are no orphans.
  void expect(pid_t child) {
    expected_.insert(child);
    stranger_sessions_.erase(child);  // the number is a new session's
  }
  void dismiss(pid_t child) { expected_.erase(child); }

  // Before all children that have ended are reaped: a main process that is met in one pass was alive after the one
  // before it, so what a look had found by then was not left by it.
  void reaping() { looks_before_last_pass_ = std::exchange(looks_before_this_pass_, looks_); }
  uint64_t looks_before_last_pass() const { return looks_before_last_pass_; }

  // Looks, and kills all that it finds.
  void kill();
  // Looks. Whether any live that no look up to `look` has seen; true also when the kernel's answer is unclear.
  bool any_since(uint64_t look);
  // False: this kernel does not tell about children; nothing is ever found.
  bool can_look() const { return can_look_; }

 private:
  struct Process {
    pid_t pid = 0;
    uint64_t started = 0;
    auto operator<=>(const Process&) const = default;
  };
  std::optional<std::set<pid_t>> children() const;  // none: they changed too often
  bool look();                                      // false: unclear
  void note_strangers();                            // those that they have started since

  const KernelFile children_;
  const bool can_look_;
  // Children that were there before us, whose orphans become ours too: they with their descendants, as far as looks met
  // them, and their sessions, which no job can enter.
  std::set<Process> strangers_;
  std::set<pid_t> stranger_sessions_;
  std::set<pid_t> expected_;
  std::map<Process, uint64_t> living_;  // found by the last look, with the look that found each first
  uint64_t looks_ = 0;
  uint64_t looks_before_this_pass_ = 0;
  uint64_t looks_before_last_pass_ = 0;
};

// Those that the options name, or new ones.
std::shared_ptr<Orphans> orphans_of(const EnclosureOptions& options);

// SIGKILL to all descendants of a process, until there are none, except `spared` and those of `spared`. For an agent
// whose supervisor hangs. Returns how many were met.
int kill_descendants(pid_t root, pid_t spared);

}  // namespace hodei::worker
