// What must happen outside the engine once a batch is durable. Each module says in its own effects.h what that is.
#pragma once

#include <concepts>
#include <string>
#include <variant>

#include "src/core/all_modules.h"
#include "src/core/rows/row.h"

namespace hodei::core {

using Effect = ListAs<std::variant, ModuleLists::Effects>;

// An effect that is only told, in its own words: it is written to the server's journal, and needs no code outside of
// its module.
template <class E>
concept IsNews = requires(const E& effect) {
  { effect.words() } -> std::convertible_to<std::string>;
};

}  // namespace hodei::core
