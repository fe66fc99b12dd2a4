#include "src/core/placement/placement.h"

namespace hodei::core {

Placement::Placement(const EngineConfig& config, const Workers& workers, Audit& audit)
    : scheduler(placer, room_maker, audit),
      roster(&scheduler.config()),
      queue(roster, keys),
      usage(roster, keys),
      limits(ports_, keys, queue, placer, audit),
      quotas(ports_, roster, queue, placer, audit),
      room_maker(ports_, workers, roster, limits, placer),
      placer(ports_, workers, roster, limits, room_maker),
      demand(ports_, keys, room_maker),
      worker_room(config, scheduler, roster, placer, room_maker) {}

void Placement::due(const Timer& timer, Turn& turn) {
  if (timer.kind == TimerKind::KeyRate) limits.due(timer, turn);
  if (timer.kind == TimerKind::Sweep) room_maker.sweep(turn);
}

}  // namespace hodei::core
