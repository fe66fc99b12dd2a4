// Refuses empty values of flags.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace hodei::cli {

// A script whose variable is not set must not mean every job, or no limit.
inline void refuse_empty_values(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_positional() || option->get_items_expected_max() == 0) continue;
    option->check([](const std::string& value) { return std::string(value.empty() ? "must not be empty" : ""); }, "");
  }
}

}  // namespace hodei::cli
