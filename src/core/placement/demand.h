// Counts the waiting jobs for which new workers may be created.
#pragma once

#include <cstdint>

#include "src/core/placement/keys.h"
#include "src/core/placement/ports.h"
#include "src/core/placement/room_maker.h"

namespace hodei::core {

class Demand {
 public:
  // Jobs of a lane that are looked at in one go; no more workers than this are requested at once.
  static constexpr size_t kJobsPerLook = 256;

  Demand(const PlacementPorts& ports, const ConcurrencyKeys& keys, const RoomMaker& room_maker)
      : ports_(ports), keys_(keys), room_maker_(room_maker) {}

  // Jobs of a lane that could start if there were workers: no more than its tenant may have, nor than their keys admit,
  // and not those for which others are put back.
  int64_t startable(const Lane& lane, const Turn& turn) const;

 private:
  const PlacementPorts& ports_;
  const ConcurrencyKeys& keys_;
  const RoomMaker& room_maker_;
};

}  // namespace hodei::core
