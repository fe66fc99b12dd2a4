// The migrations from older schemas to the current one.
#pragma once

#include <vector>

#include "src/store/schema.h"

namespace hodei::store {

std::vector<Migration> migrations();

}  // namespace hodei::store
