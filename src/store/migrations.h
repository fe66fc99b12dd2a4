// The steps from older schemas to that of today.
#pragma once

#include <vector>

#include "src/store/schema.h"

namespace hodei::store {

std::vector<Migration> migrations();

}  // namespace hodei::store
