// What `hodei agent` and `hodei-worker` do alike: from the settings of the command line to the worker's own code.
#pragma once

#include <string>

#include "src/cli/session/local_commands.h"

namespace hodei {

// Before anything else in main().
void quiet_libraries();

// True: this process was started by a supervisor to be its agent; `exit_code` says how that ended.
bool was_attached_agent(int argc, char** argv, int& exit_code);

// The commands that the worker's code carries out. `program` is what the agent's command line begins with.
void add_worker_commands(cli::LocalCommands& local, const std::string& program);

}  // namespace hodei
