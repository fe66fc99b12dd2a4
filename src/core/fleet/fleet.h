// The module of workers: tokens, sessions, streams, heartbeats, leases, stops, drains and taints.
#pragma once

#include <cstdint>

#include "src/core/fleet/beats.h"
#include "src/core/fleet/departures.h"
#include "src/core/fleet/directory.h"
#include "src/core/fleet/pauses.h"
#include "src/core/fleet/registrations.h"
#include "src/core/fleet/silence.h"
#include "src/core/fleet/streams.h"
#include "src/core/fleet/taints.h"
#include "src/core/fleet/tokens.h"
#include "src/core/fleet/workers.h"

namespace hodei::core {

class Fleet {
 public:
  Fleet(const EngineConfig& config, Audit& audit);
  void connect(const FleetPorts& ports) { ports_ = ports; }

  template <class C>
  requires is_one_of<C, JoinedLists<FleetCommands, FleetQuestions>> Answer decide(const C& command, Turn& turn) {
    return decide_by(command, turn, tokens, registrations, streams, beats, departures, taints, silence, directory);
  }
  template <class W>
  requires FoldedBy<W, Workers, Tokens>
  void fold(const W& write) { fold_into(write, workers, tokens); }
  void resume(Turn& turn) { silence.resume(turn); }
  void due(const Timer& timer, Turn& turn);
  uint64_t digest() const { return workers.digest() + tokens.digest(); }

 private:
  FleetPorts ports_;

 public:
  Workers workers;
  Tokens tokens;
  Directory directory;
  Departures departures;
  Registrations registrations;
  Beats beats;
  Streams streams;
  Pauses pauses;
  Taints taints;
  Silence silence;
};

}  // namespace hodei::core
