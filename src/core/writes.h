// All changes of state. A decision is a list of these: the store commits the list, and memory folds the same list. Each
// module says in its own rows.h what it stores: rows, and verbs where put and erase are not enough.
#pragma once

#include <variant>
#include <vector>

#include "src/core/access/rows.h"
#include "src/core/audit/rows.h"
#include "src/core/fleet/rows.h"
#include "src/core/jobs/rows.h"
#include "src/core/placement/rows.h"
#include "src/core/provision/rows.h"
#include "src/core/rows/row.h"
#include "src/core/secrets/rows.h"

namespace hodei::core {

// Every row but jobs, which come after all of them. A load gives them in this order, so what others count on comes
// first: providers before the workers they made.
using AllRows = JoinedLists<AuditRows, AccessRows, ProvisionRows, PlacementRows, SecretRows, JobRows, FleetRows>;

using Write = ListAs<std::variant, JoinedLists<JobVerbs, PlacementVerbs, AuditVerbs, RowVerbs<AllRows>>>;

using Writes = std::vector<Write>;

}  // namespace hodei::core
