// Translates what the engine says about a container, and about itself, into the structs of the provider port. Pure.
#pragma once

#include <string>

#include "src/providers/docker/engine.h"
#include "src/providers/provider.h"

namespace hodei::providers::docker {

// `last_lines`: the last lines of one that ended badly, or nothing.
WorkerStatus status_of(const ContainerFacts& container, const std::string& last_lines);

Health health_of(const EngineInfo& info, const std::string& engine, const std::string& worker_binary);

}  // namespace hodei::providers::docker
