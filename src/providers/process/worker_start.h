// Starts the process of a worker in its own session, with its own environment and none of our file descriptors.
#pragma once

#include <string>

#include "src/providers/process/process_look.h"
#include "src/providers/provider.h"

namespace hodei::providers {

// `environment` overrides our own variables that are passed on: no setting of the server, and nothing secret.
//   FAILED_PRECONDITION  the program cannot be run   RESOURCE_EXHAUSTED  no more processes now
absl::StatusOr<pid_t> start_worker(const std::string& program, const StringMap& environment, const std::string& folder,
                                   const std::string& log);

}  // namespace hodei::providers
