// Providers that are there without anybody having added them, and the program that they start.
#pragma once

#include <string>
#include <vector>

#include "src/cli/session/local_commands.h"
#include "src/core/provision/provision.h"

namespace hodei {

// `is_dev`: those that can work on this machine are there unless they were switched off.
std::vector<core::ProviderRow> built_in_providers(const cli::ServerOptions& options, bool is_dev);

// hodei-worker beside this program; empty: it is not there.
std::string find_worker_binary();

}  // namespace hodei
