// Handles heartbeats: what a worker reports about itself and about its executions, and what the server answers.
#pragma once

#include <string>
#include <vector>

#include "src/core/config.h"
#include "src/core/fleet/workers.h"
#include "src/core/routing.h"

namespace hodei::core {

class Beats {
 public:
  Beats(const EngineConfig& config, const FleetPorts& ports, Workers& workers)
      : config_(config), ports_(ports), workers_(workers) {}

  Answer decide(const Heartbeat& c, Turn& turn);

  void note_fitness(LiveWorker& worker, const std::string& unfit, Turn& turn);

 private:
  void seen(LiveWorker& worker, Turn& turn);
  void compare_active(LiveWorker& worker, const Heartbeat& beat, Turn& turn);
  std::vector<std::string> instructions_for(const LiveWorker& worker, const Heartbeat& beat) const;

  const EngineConfig& config_;
  const FleetPorts& ports_;
  Workers& workers_;
};

}  // namespace hodei::core
