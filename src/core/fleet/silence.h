// Handles workers that do not send heartbeats. They get no new jobs; when their lease has ended their executions are
// lost; and in the end their records are removed.
#pragma once

#include "src/core/config.h"
#include "src/core/fleet/tokens.h"
#include "src/core/fleet/workers.h"
#include "src/core/routing.h"

namespace hodei::core {

class Silence {
 public:
  Silence(const EngineConfig& config, const FleetPorts& ports, Workers& workers, Tokens& tokens)
      : config_(config), ports_(ports), workers_(workers), tokens_(tokens) {}

  Answer decide(const Stall& c, Turn& turn);

  // After a load, silence counts from now on.
  void resume(Turn& turn);
  void sweep(Turn& turn);

 private:
  enum class Verdict : uint8_t { Stays, Lost, NeverCame, Forgotten };
  Verdict judge(LiveWorker& worker, const Turn& turn);
  void lose_all(LiveWorker& worker, Turn& turn);

  const EngineConfig& config_;
  const FleetPorts& ports_;
  Workers& workers_;
  Tokens& tokens_;
};

}  // namespace hodei::core
