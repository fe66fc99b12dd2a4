// The engine's answers to its commands. Each module says in its own commands.h how it answers.
#pragma once

#include <variant>

#include "absl/status/statusor.h"
#include "src/core/all_modules.h"
#include "src/core/rows/row.h"

namespace hodei::core {

struct Done {};

using Reply = ListAs<std::variant, JoinedLists<TypeList<Done>, ModuleLists::Answers>>;

using Answer = absl::StatusOr<Reply>;

}  // namespace hodei::core
