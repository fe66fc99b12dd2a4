// The engine's answers to its commands. Each module says in its own commands.h how it answers.
#pragma once

#include <variant>

#include "absl/status/statusor.h"
#include "src/core/access/commands.h"
#include "src/core/fleet/commands.h"
#include "src/core/jobs/commands.h"
#include "src/core/overview/commands.h"
#include "src/core/placement/commands.h"
#include "src/core/provision/commands.h"
#include "src/core/rows/row.h"
#include "src/core/secrets/commands.h"

namespace hodei::core {

struct Done {};

using Reply = ListAs<std::variant, JoinedLists<TypeList<Done>, JobAnswers, FleetAnswers, PlacementAnswers,
                                               SecretAnswers, AccessAnswers, ProvisionAnswers, OverviewAnswers>>;

using Answer = absl::StatusOr<Reply>;

}  // namespace hodei::core
