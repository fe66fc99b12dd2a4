// Downloads or uploads one artifact between a URL and the folder of an execution. The functions block; the threads of
// Transfers call them.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "src/base/ids.h"
#include "src/worker/artifacts/artifact.h"
#include "src/worker/artifacts/server_store.h"

namespace hodei::worker {

// The parts of an execution's folder, as WorkFolder has them, and one beside them for what is on its way.
std::string cwd_of(const std::string& folder);
std::string incoming_of(const std::string& folder);

struct Surroundings {
  ExecutionId execution;
  std::string folder;
  ServerStore store;          // of `hodei:` URLs
  bool files_allowed = true;  // `file:` URLs reach past a sandbox
  std::stop_token stop;
};

absl::Status fetch(const ArtifactOrder& order, const Surroundings& around);
absl::Status send(const ArtifactOrder& order, const Surroundings& around);

}  // namespace hodei::worker
