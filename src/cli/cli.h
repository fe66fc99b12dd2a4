// The entry points of the command lines `hodei …` and `hodei-worker …`.
#pragma once

#include <string>
#include <vector>

#include "src/cli/session/local_commands.h"
#include "src/cli/terminal/surroundings.h"

namespace hodei::cli {

// Parses, carries out, returns the exit code. `local` holds what src/main puts in.
int run_cli(int argc, char** argv, const LocalCommands& local);

// The same with everything outside given: for tests. `args` is without the program's name.
int run_cli(const std::vector<std::string>& args, const LocalCommands& local, const Surroundings& surroundings);

// `hodei-worker`: the flags of `hodei agent` and the commands for use inside a job; it uses only these two of `local`.
int run_worker_cli(int argc, char** argv, const LocalCommands& local);
int run_worker_cli(const std::vector<std::string>& args, const LocalCommands& local, const Surroundings& surroundings);

}  // namespace hodei::cli
