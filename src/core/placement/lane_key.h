// The key of a lane. Unlike its address, it is never reused for another lane.
#pragma once

#include <compare>
#include <cstdint>

namespace hodei::core {

// Numbers of shapes, tenants, workers and classes of workers. They are assigned in order and never reused, so they have
// 64 bits: a busy server with changing shapes uses up 32 bits within weeks.
using Ordinal = uint64_t;

struct LaneKey {
  uint8_t priority = 0;  // 0: no lane
  Ordinal tenant = 0;
  Ordinal shape = 0;

  auto operator<=>(const LaneKey&) const = default;
};

}  // namespace hodei::core
