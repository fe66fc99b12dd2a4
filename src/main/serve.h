// `hodei server` and `hodei dev`: open, run until told to stop, close.
#pragma once

#include "src/cli/session/local_commands.h"

namespace hodei {

int run_server(const cli::ServerOptions& options);
int run_dev(const cli::DevOptions& options);

}  // namespace hodei
