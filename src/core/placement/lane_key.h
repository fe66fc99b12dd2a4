// The name of a lane: unlike its address it is never used for another one.
#pragma once

#include <compare>
#include <cstdint>

namespace hodei::core {

struct LaneKey {
  uint8_t priority = 0;      // 0: no lane
  uint32_t tenant = 0;
  uint32_t shape = 0;

  auto operator<=>(const LaneKey&) const = default;
};

}  // namespace hodei::core
