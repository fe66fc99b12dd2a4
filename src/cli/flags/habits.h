// Flags and commands of docker, kubectl, Slurm and gh that people may try first, and the names that they have here.
#pragma once

#include <string>
#include <string_view>

namespace hodei::cli {

// "; here that is hodei job list", or nothing. `path`: of the command that got the word, such as "hodei job".
std::string here_called(std::string_view path, std::string_view word);

}  // namespace hodei::cli
