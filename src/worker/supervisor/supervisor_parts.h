// The parts of a supervisor, in the order in which they need each other. The Supervisor owns them and turns the loop.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "src/worker/core/keeper.h"
#include "src/worker/limits/execution_watch.h"
#include "src/worker/protocol/worker_options.h"
#include "src/worker/supervisor/agent_process.h"
#include "src/worker/supervisor/execution_host.h"
#include "src/worker/supervisor/execution_rings.h"
#include "src/worker/supervisor/machine.h"
#include "src/worker/supervisor/spawn_pool.h"
#include "src/worker/supervisor/state_folder.h"
#include "src/worker/supervisor/supervisor_events.h"

namespace hodei::worker {

struct SupervisorParts {
  SupervisorParts(WorkerOptions given, StateFolder& folder, AgentLauncher& launcher, const Clock& its_clock)
      : options(std::move(given)),
        state(folder),
        clock(its_clock),
        keeper(KeeperConfig{.default_grace = options.grace}),
        watch(its_clock),
        rings(options.ring_bytes),
        agent(launcher, folder, events) {}

  WorkerOptions options;
  StateFolder& state;
  const Clock& clock;
  SupervisorEvents events;
  Keeper keeper;
  Machine machine;
  ExecutionWatch watch;
  ExecutionRings rings;
  std::unique_ptr<SpawnPool> spawns;
  std::unique_ptr<ExecutionHost> host;
  std::map<ExecutionId, std::string> notes;  // of held executions, for the next agent
  AgentProcess agent;
};

}  // namespace hodei::worker
