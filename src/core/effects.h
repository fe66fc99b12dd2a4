// What must happen outside the engine once a batch is durable. Each module says in its own effects.h what that is.
#pragma once

#include <variant>

#include "src/core/fleet/effects.h"
#include "src/core/jobs/effects.h"
#include "src/core/provision/effects.h"
#include "src/core/rows/row.h"

namespace hodei::core {

using Effect = ListAs<std::variant, JoinedLists<JobEffects, FleetEffects, ProvisionEffects>>;

}  // namespace hodei::core
