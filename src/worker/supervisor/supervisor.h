// The supervisor's loop: one thread that owns the Keeper, the executions and the socket to the agent.
#pragma once

#include <algorithm>
#include <thread>

#include "absl/status/status.h"
#include "src/worker/core/pace.h"
#include "src/worker/supervisor/agent_launcher.h"
#include "src/worker/supervisor/agent_side.h"
#include "src/worker/supervisor/shutdown.h"
#include "src/worker/supervisor/state_folder.h"
#include "src/worker/supervisor/supervisor_parts.h"

namespace hodei::worker {

class Supervisor {
 public:
  // `options.worker_id` is settled. `launcher` outlives it.
  Supervisor(WorkerOptions options, StateFolder& state, AgentLauncher& launcher, const Clock& clock);
  ~Supervisor();

  // Kills what an earlier supervisor left, then opens what the loop needs. Blocks the signals it listens to.
  absl::Status start();
  int run();                       // until it is stopped; the process's exit code
  bool turn(int timeout_ms = -1);  // one turn of the loop; false: the end

 private:
  absl::Status open_parts();
  void handle(uint64_t key, Now now);
  void on_signals(Now now);
  void on_watch();
  void reap(Now now);
  void gather();
  void set_timer();

  SupervisorParts parts_;
  Shutdown shutdown_;
  AgentSide agent_side_;
  MonoTime last_turn_{0};
  Pace pace_;  // of children that end
  const size_t cores_ = std::max(1u, std::thread::hardware_concurrency());
};

}  // namespace hodei::worker
