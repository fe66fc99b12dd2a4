// All changes of state. A decision is a list of these: the store commits the list, and memory folds the same list. Each
// module says in its own rows.h what it stores: rows, and verbs where put and erase are not enough.
#pragma once

#include <variant>
#include <vector>

#include "src/core/all_modules.h"
#include "src/core/rows/row.h"

namespace hodei::core {

// Every row but jobs, in the order of a load.
using AllRows = ModuleLists::Rows;

using Write = ListAs<std::variant, JoinedLists<ModuleLists::Verbs, RowVerbs<AllRows>>>;

using Writes = std::vector<Write>;

}  // namespace hodei::core
