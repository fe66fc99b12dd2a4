#include "src/server/pending_stops.h"

#include "src/core/fleet/incarnation.h"

namespace hodei::server {

void PendingStops::remember(const core::Turn& turn) {
  for (const core::Write& write : turn.writes) {
    const auto* put = std::get_if<core::Put<core::WorkerRecord>>(&write);
    if (put == nullptr) continue;
    const core::WorkerRecord& record = *put->row;
    if (record.stopped) {
      stops_[record.info.id] = core::parse_incarnation(record.incarnation).id;
    } else {
      stops_.erase(record.info.id);
    }
  }
}

void PendingStops::remember(const core::Command& command) {
  const auto* stops = std::get_if<core::WorkerStops>(&command);
  if (stops != nullptr && !stops->incarnation.empty()) stops_[stops->worker] = stops->incarnation;
}

void PendingStops::decide_all(core::Engine& engine, Now now, core::Turn& turn) const {
  for (const auto& [worker, incarnation] : stops_) {
    engine.decide(core::WorkerStops{worker, 0, incarnation}, now, turn).IgnoreError();
  }
}

}  // namespace hodei::server
