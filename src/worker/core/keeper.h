// The rules of the supervisor: which executions exist, which must be killed and when, and which ends are not reported
// yet. Pure: it takes events and the time, and returns actions. The supervisor and the simulator carry them out.
//
// Promises:
//  - an execution id is started at most once, however often the order comes;
//  - after the lease has ended nothing is started and everything that runs is killed at once;
//  - an exit record is kept until the agent says that the server has it (forget).
#pragma once

#include <variant>
#include <vector>

#include "src/base/time.h"
#include "src/worker/core/execution.h"
#include "src/worker/core/kept_executions.h"

namespace hodei::worker {

struct KeeperConfig {
  Duration default_grace = 5s;  // from SIGTERM to SIGKILL
  size_t max_held = 4096;       // executions held at once, ended ones included; more starts are refused
};

// Actions, in the order they must be carried out.
struct Spawn {
  ExecutionId execution;
};
struct SignalTree {
  ExecutionId execution;
  bool kill = false;
};  // SIGTERM, or SIGKILL to every process of the tree
struct TellStarted {
  ExecutionId execution;
  WallTime at;
  int64_t pid = 0;
};
struct TellExited {
  Exit exit;
};
struct Release {
  ExecutionId execution;
};  // ring, folder and cgroup may be reused
using KeeperAction = std::variant<Spawn, SignalTree, TellStarted, TellExited, Release>;

// What an execution that was ended for this reason is reported as.
void judge(Exit& exit, KillReason why);

class Keeper : public KeptExecutions {
 public:
  explicit Keeper(KeeperConfig config) : config_(config) {}

  // From the agent.
  void start(const StartOrder& order, Now now);  // refused starts are reported as Exit{Lost}
  // Grace 0: the order's own. LeaseExpired knows no grace. The first reason decides the outcome; a later call can only
  // bring the SIGKILL forward.
  void kill(ExecutionId execution, KillReason why, Duration grace, Now now);
  void extend_lease(MonoTime until);
  // An end that an earlier supervisor saw and could not tell: held until it is forgotten.
  void adopt(const Exit& exit);
  void forget(ExecutionId execution);  // ignored unless it is held and has ended

  // From the operating system.
  void spawned(ExecutionId execution, int64_t pid, Now now);
  void spawn_failed(ExecutionId execution, const Exit& how, Now now);
  // The main process has ended: kill what is left of the tree. The end is reported once the tree is dead.
  void main_exited(ExecutionId execution, int exit_code, int signal, Now now);
  // The tree is dead and all output is in the ring. `usage` carries facts and log_bytes; a failure in it is what the
  // end is called, unless somebody wanted the end; a message without one is added.
  void tree_dead(ExecutionId execution, const Exit& usage, Now now);

  // The worker is being stopped. Nothing new is started: an order is reported as Exit{Interrupted} that never
  // started. What runs may end by itself for that long; then it gets SIGTERM, after its own grace, but at most the
  // default one, SIGKILL, and is reported as Interrupted. Called again it can only become shorter.
  void stop_gracefully(Duration grace, Now now);
  void stop_at_once();  // after stop_gracefully: SIGKILL for all that is left
  void tick(Now now);
  MonoTime next_deadline() const;
  std::vector<KeeperAction> take_actions();

 private:
  bool lease_ended(Now now) const { return now.mono >= lease_until_; }
  void refuse(const StartOrder& order, KillReason why, Now now);
  void begin_end(Entry& entry, KillReason why, Duration grace, Now now);
  void end(Entry& entry, Now now);
  void expire(Now now);
  void end_stopped(Now now);

  KeeperConfig config_;
  MonoTime lease_until_{0};
  bool stopping_ = false;
  MonoTime stop_at_ = kNever;  // when what still runs is ended; afterwards not set
  std::vector<KeeperAction> actions_;
};

}  // namespace hodei::worker
