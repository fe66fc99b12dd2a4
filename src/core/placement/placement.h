// The module of placement: which waiting job goes to which worker, in the order of classes, tenants and shapes.
#pragma once

#include <cstdint>

#include "src/core/placement/demand.h"
#include "src/core/placement/key_limits.h"
#include "src/core/placement/placer.h"
#include "src/core/placement/ports.h"
#include "src/core/placement/queue.h"
#include "src/core/placement/quotas.h"
#include "src/core/placement/room_maker.h"
#include "src/core/placement/roster.h"
#include "src/core/placement/scheduler.h"
#include "src/core/placement/usage.h"
#include "src/core/placement/worker_room.h"

namespace hodei::core {

class Placement {
 public:
  Placement(const EngineConfig& config, const Workers& workers, Audit& audit);
  void connect(const PlacementPorts& with) { ports_ = with; }

  template <class C>
  requires is_one_of<C, JoinedLists<PlacementCommands, PlacementQuestions>> Answer decide(const C& command,
                                                                                          Turn& turn) {
    return decide_by(command, turn, scheduler, limits, quotas);
  }
  template <class W>
  requires FoldedBy<W, Scheduler, KeyLimits, Quotas>
  void fold(const W& write) {
    fold_into(write, scheduler, limits, quotas);
    if constexpr (Folds<Scheduler, W>) roster.workers.refresh_all();  // ranks depend on its settings
  }
  void resume(Turn& turn) { limits.resume(turn); }
  void due(const Timer& timer, Turn& turn);
  uint64_t digest() const { return scheduler.digest() + limits.digest() + quotas.digest(); }

 private:
  PlacementPorts ports_;

 public:
  Scheduler scheduler;
  Roster roster;
  ConcurrencyKeys keys;
  WaitingQueue queue;
  Usage usage;
  KeyLimits limits;
  Quotas quotas;
  RoomMaker room_maker;
  Placer placer;
  Demand demand;
  WorkerRoom worker_room;
};

}  // namespace hodei::core
