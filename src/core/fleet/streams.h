// The streams of workers. A worker's hello says what it holds, and what it does not list was never started.
#pragma once

#include <vector>

#include "src/core/config.h"
#include "src/core/fleet/beats.h"
#include "src/core/fleet/departures.h"
#include "src/core/fleet/workers.h"
#include "src/core/routing.h"

namespace hodei::core {

class Streams {
 public:
  Streams(const EngineConfig& config, const FleetPorts& ports, Workers& workers, Beats& beats, Departures& departures)
      : config_(config), ports_(ports), workers_(workers), beats_(beats), departures_(departures) {}

  Answer decide(const OpenStream& c, Turn& turn);
  Answer decide(const CloseStream& c, Turn& turn);

 private:
  void connect(LiveWorker& worker, const OpenStream& hello, Turn& turn);
  // Returns those of its held executions that were given to it.
  std::vector<ExecutionId> reconcile(LiveWorker& worker, const OpenStream& hello, Turn& turn);

  const EngineConfig& config_;
  const FleetPorts& ports_;
  Workers& workers_;
  Beats& beats_;
  Departures& departures_;
};

}  // namespace hodei::core
