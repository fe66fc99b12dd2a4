// The commands of the engine. Each module says in its own commands.h what can be asked of it.
#pragma once

#include <variant>

#include "src/core/access/commands.h"
#include "src/core/answers.h"
#include "src/core/audit/commands.h"
#include "src/core/fleet/commands.h"
#include "src/core/jobs/commands.h"
#include "src/core/overview/commands.h"
#include "src/core/placement/commands.h"
#include "src/core/provision/commands.h"
#include "src/core/rows/row.h"
#include "src/core/secrets/commands.h"

namespace hodei::core {

struct Tick {};  // handle what is due

// Questions about memory. They change nothing.
using Question =
    ListAs<std::variant,
           JoinedLists<OverviewQuestions, FleetQuestions, PlacementQuestions, ProvisionQuestions, AccessQuestions>>;

using Command =
    ListAs<std::variant, JoinedLists<JobCommands, FleetCommands, PlacementCommands, ProvisionCommands, SecretCommands,
                                     AccessCommands, AuditCommands, TypeList<Tick, Question>>>;

}  // namespace hodei::core
