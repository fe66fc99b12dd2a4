#include "src/core/jobs/jobs.h"

namespace hodei::core {

Jobs::Jobs(const EngineConfig& config, Fleet& fleet, Placement& placement, Audit& audit)
    : table(ports_, fleet.workers, placement),
      keys(config),
      moves(ports_, table, fleet, placement),
      submissions(config, ports_, table, keys, placement),
      endings(table, moves),
      dispatches(table, fleet.workers, placement, moves, audit),
      requeues(table, fleet, moves),
      reports(table, fleet, moves, requeues),
      templates(config, audit),
      forgetting(table, audit),
      for_fleet(table, requeues, reports),
      for_placement(table, requeues, dispatches) {}

void Jobs::resume(Turn& turn) {
  moves.resume(turn);
  keys.resume(turn);
}

void Jobs::due(const Timer& timer, Turn& turn) {
  switch (timer.kind) {
    case TimerKind::Backoff: return moves.due(timer, turn);
    case TimerKind::Timeout: return endings.due(timer, turn);
    case TimerKind::Sweep: return keys.sweep(turn);
    default: return;
  }
}

}  // namespace hodei::core
