// The container that a worker becomes: the body of the engine's create request. Pure.
#pragma once

#include <string>

#include "src/providers/docker/docker_options.h"
#include "src/providers/provider.h"

namespace hodei::providers::docker {

// The label of an image that holds the worker at its place already; the value is the SHA-256 of it.
inline constexpr const char* kHasWorkerLabel = "hodei.worker.sha256";

// The marks by which everything of this provider is found again.
StringMap owner_labels(const Installation& installation, const ProviderConfig& config);

std::string container_name(const Installation& installation, const std::string& worker_id);
// As earlier versions named it: such containers may still be there.
std::string former_container_name(const std::string& worker_id);

// "host" for a server that only this machine can reach; else what the options say, or the engine's default.
absl::StatusOr<std::string> network_for(const DockerOptions& options, const WorkerSpec& spec);

std::string container_body(const DockerOptions& options, const StringMap& labels, const StringMap& environment,
                           const WorkerSpec& spec, const std::string& network);

}  // namespace hodei::providers::docker
