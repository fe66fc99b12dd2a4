// Numbers for shapes, tenants, workers and classes of workers: assigned in order, never reused.
#pragma once

#include "src/core/placement/lane_key.h"

namespace hodei::core {

struct Ordinals {
  Ordinal next = 1;

  Ordinal take() { return next++; }
};

}  // namespace hodei::core
