#include "src/core/fleet/fleet.h"

namespace hodei::core {

Fleet::Fleet(const EngineConfig& config, Audit& audit)
    : workers(ports_),
      tokens(config, workers, audit),
      directory(workers),
      departures(ports_, workers, tokens, audit),
      registrations(config, ports_, workers, tokens, audit),
      beats(config, ports_, workers),
      streams(config, ports_, workers, beats, departures),
      pauses(ports_, workers),
      taints(ports_, workers, audit),
      silence(config, ports_, workers, tokens) {}

void Fleet::due(const Timer& timer, Turn& turn) {
  if (timer.kind == TimerKind::Pause) pauses.due(timer, turn);
  if (timer.kind != TimerKind::Sweep) return;
  silence.sweep(turn);
  tokens.sweep(turn);
}

}  // namespace hodei::core
