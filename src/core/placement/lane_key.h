// The name of a lane: unlike its address it is never used for another one.
#pragma once

#include <compare>
#include <cstdint>

namespace hodei::core {

// Numbers of shapes, tenants, workers and kinds of workers. They are given out one by one and never used again, so they
// have 64 bits: a busy server with changing shapes uses up 32 bits within weeks.
using Ordinal = uint64_t;

struct LaneKey {
  uint8_t priority = 0;  // 0: no lane
  Ordinal tenant = 0;
  Ordinal shape = 0;

  auto operator<=>(const LaneKey&) const = default;
};

}  // namespace hodei::core
