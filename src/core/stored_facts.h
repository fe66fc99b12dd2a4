// What memory keeps of a stored row whose bytes are in the store only: a template, a secret.
#pragma once

#include <cstdint>

#include "src/base/time.h"

namespace hodei::core {

struct StoredFacts {
  int64_t revision = 0;
  WallTime updated;
  uint64_t hash = 0;
};

}  // namespace hodei::core
