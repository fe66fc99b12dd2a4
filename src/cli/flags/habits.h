// Words of docker, kubectl, Slurm and gh that people try first, and what they are called here.
#pragma once

#include <string>
#include <string_view>

namespace hodei::cli {

// "; here that is hodei job list", or nothing. `path`: of the command that got the word, such as "hodei job".
std::string here_called(std::string_view path, std::string_view word);

}  // namespace hodei::cli
