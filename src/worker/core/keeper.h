// The supervisor's brain: which executions exist, which must die and when, which ends are still to be told.
// Pure: it is given events and the time, and returns what to do. The supervisor acts; the simulator plays along.
//
// Promises:
//  - an execution id is started at most once, however often the order comes;
//  - after the lease has ended nothing is started and everything that runs is killed at once;
//  - an exit record is kept until the agent says that the server has it (forget).
#pragma once

#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "src/base/time.h"
#include "src/worker/core/execution.h"

namespace hodei::worker {

struct KeeperConfig {
  Duration default_grace = 5s;   // from SIGTERM to SIGKILL
  size_t max_held = 4096;        // executions held at once, ended ones included; more starts are refused
};

// What one start needs to know besides the program itself.
struct StartOrder {
  ExecutionId execution;
  Duration timeout{0};           // from the start of the process; 0: none
  Duration grace{0};             // 0: the default
};

// Actions, in the order they must be carried out.
struct Spawn { ExecutionId execution; };
struct SignalTree { ExecutionId execution; bool kill = false; };   // SIGTERM, or SIGKILL to every process of the tree
struct TellStarted { ExecutionId execution; WallTime at; int64_t pid = 0; };
struct TellExited { Exit exit; };
struct Release { ExecutionId execution; };                          // ring, folder and cgroup may be reused
using KeeperAction = std::variant<Spawn, SignalTree, TellStarted, TellExited, Release>;

class Keeper {
 public:
  explicit Keeper(KeeperConfig config) : config_(config) {}

  // From the agent.
  void start(const StartOrder& order, Now now);            // refused starts are told as Exit{Failed|Lost}
  void kill(ExecutionId execution, KillReason why, Duration grace, Now now);
  void extend_lease(MonoTime until);
  void forget(ExecutionId execution);                      // unknown ids are fine
  std::vector<Held> inventory() const;

  // From the operating system.
  void spawned(ExecutionId execution, int64_t pid, Now now);
  void spawn_failed(ExecutionId execution, const Exit& how, Now now);
  // The main process has ended: kill what is left of the tree. The end is told once the tree is dead.
  void main_exited(ExecutionId execution, int exit_code, int signal, Now now);
  // The tree is dead and all output is in the ring. `usage` carries cpu_ms, max_memory_kb, log_bytes.
  void tree_dead(ExecutionId execution, const Exit& usage, Now now);

  void stop(Now now);                                      // kill everything, start nothing more
  void tick(Now now);
  MonoTime next_deadline() const;
  bool empty() const { return held_.empty(); }
  std::vector<KeeperAction> take_actions();

 private:
  struct Entry {
    StartOrder order;
    bool spawned = false;
    bool main_gone = false;
    bool ended = false;
    std::optional<KillReason> dying;
    MonoTime timeout_at = kNever;
    MonoTime kill_at = kNever;
    Exit exit;
  };

  KeeperConfig config_;
  std::map<ExecutionId, Entry> held_;
  MonoTime lease_until_{0};
  bool stopping_ = false;
  std::vector<KeeperAction> actions_;
};

}  // namespace hodei::worker
