// What holds the whole process tree of one execution, so that nothing of it can escape a kill.
//
// Three kinds, the best that the machine allows: a cgroup v2 (killed by one write, entered at birth), a cgroup v1 of
// the freezer hierarchy, or no cgroup at all: then the tree is found through its process group, its parents and a mark
// in its environment. A job with the rights to can leave its cgroup, so in all three the main process with its group,
// and what it left behind when it ended (Orphans), belong to the tree too. Enclosures are pooled: making a cgroup costs
// as much as starting a process.
#pragma once

#include <sys/types.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/base/ids.h"

namespace hodei::worker {

inline constexpr const char* kMarkVariable = "HODEI_WORKER_MARK";
inline constexpr const char* kExecutionVariable = "HODEI_EXECUTION_ID";

class Orphans;

class Enclosure {
 public:
  virtual ~Enclosure() = default;

  // Prepared for one execution; `main` is given once it is known.
  virtual void assign(ExecutionId) {}
  virtual void entered(pid_t) {}
  // At most so many processes, threads included; 0: what the worker allows. Before each start, on any thread. Nothing
  // happens where Enclosures::limits_processes() says no.
  virtual absl::Status limit_processes(int64_t) { return absl::OkStatus(); }
  virtual void main_ended() {}  // reaped: its number may soon be another process's

  virtual std::string cgroup() const { return {}; }  // the folder whose cgroup.procs lists its processes; empty: none
  virtual int birth_cgroup() const { return -1; }    // a folder's descriptor: the process is made inside (v2)
  virtual int join_file() const { return -1; }       // the child writes "0" there before it becomes the program (v1)
  virtual int limit_file() const { return -1; }      // and there: what limits its processes, where that is apart (v1)

  virtual void terminate() = 0;                    // SIGTERM to every process
  virtual void kill() = 0;                         // SIGKILL to every process, also to those just being born
  virtual bool is_empty() = 0;                     // nothing is alive; zombies do not count
  virtual bool is_spent() const { return false; }  // not to be used for another execution
};

class Enclosures {
 public:
  virtual ~Enclosures() = default;
  // Kills whatever an earlier supervisor of this worker left alive. Returns how many processes it met.
  virtual absl::StatusOr<int> kill_leftovers() = 0;
  virtual absl::StatusOr<std::unique_ptr<Enclosure>> make() = 0;
  virtual std::string describe() const = 0;
  virtual std::string cgroup() const { return {}; }  // the folder that holds all of them
  virtual bool limits_processes() const { return false; }
  // Whether kill_leftovers() finds all, except what a job of root has moved out.
  virtual bool holds_all() const { return true; }
  // Those of version 2 that act on each enclosure; see ResourceGroups.
  virtual std::set<std::string> controllers() const { return {}; }
  virtual void remove_all() {}  // at the end, when all are empty
};

struct EnclosureOptions {
  bool cgroups = true;
  bool only_v1 = false;  // not version 2, even where it is
  std::string cgroup_root = "/sys/fs/cgroup";
  // Value of kMarkVariable in every process of this worker, and the name of its cgroup: two workers of one machine may
  // have the same id (of two servers), never the same mark.
  std::string mark;
  uint64_t most_processes = 0;                 // of one execution that names no number, threads included; 0: no limit
  std::shared_ptr<Orphans> orphans = nullptr;  // null: each kind makes its own
};

// The best kind that works here. A cgroup that cannot be used is not an error: the next kind is taken. Where no cgroup
// can limit the number of processes there is no limit, and describe() says so.
std::unique_ptr<Enclosures> choose_enclosures(const EnclosureOptions& options);

std::unique_ptr<Enclosures> make_cgroup_v2(const EnclosureOptions& options);  // null: not possible here
std::unique_ptr<Enclosures> make_cgroup_v1(const EnclosureOptions& options);  // null: not possible here
std::unique_ptr<Enclosures> make_marked_trees(const EnclosureOptions& options);
// The same enclosures with a limit of processes from the v1 hierarchy `pids`. Null, and `plain` untouched: not possible
// here.
std::unique_ptr<Enclosures> make_limited(const EnclosureOptions& options, std::unique_ptr<Enclosures>& plain);

// SIGKILL to all processes in a cgroup of either version until it is empty, its sub-folders included. For those who
// know only the folder: a successor, or an agent whose supervisor hangs. Returns how many were met.
int kill_cgroup_tree(const std::string& folder);
// The same for all processes with this mark in their environment, except the caller.
int kill_marked(const std::string& mark);

}  // namespace hodei::worker
