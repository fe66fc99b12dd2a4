// Workers as child processes of the server: the default of `hodei dev`.
//
// Each has a folder of its own below the installation's, with its state, its log and a record of its process. The
// folder is made before the process and removed after it, so that whatever happens to the server in between, the next
// one finds what there is: by the record, and by the marks in the environment of every process.
//
// Options: binary (the worker; without it the static one beside this program), max_workers (64), grace (2s: between
// SIGTERM and SIGKILL).
#pragma once

#include "src/providers/provider.h"

namespace hodei::providers {

absl::StatusOr<std::unique_ptr<Provider>> make_process_provider(const ProviderConfig& config,
                                                                const Installation& installation);

}  // namespace hodei::providers
