// An option that may be given several times, one value each: `--label a=1 --label b=2`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace hodei::cli {

inline CLI::Option* repeatable(CLI::App& app, const std::string& names, std::vector<std::string>& values,
                               const std::string& description) {
  // Without this CLI11 takes every word that follows, also the command's own arguments.
  return app.add_option(names, values, description)->allow_extra_args(false);
}

}  // namespace hodei::cli
