// The commands of the engine. Each module says in its own commands.h what can be asked of it.
#pragma once

#include <variant>

#include "src/core/all_modules.h"
#include "src/core/answers.h"
#include "src/core/rows/row.h"

namespace hodei::core {

struct Tick {};  // handle what is due

// Questions about memory. They change nothing.
using Question = ListAs<std::variant, ModuleLists::Questions>;

using Command = ListAs<std::variant, JoinedLists<ModuleLists::Commands, TypeList<Tick, Question>>>;

}  // namespace hodei::core
