// Between the engine's words and those of the port of providers.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "src/core/commands.h"
#include "src/providers/provider.h"

namespace hodei::server {

providers::ProviderConfig config_of(const core::ProviderRow& row);
core::ProviderFacts facts_of(const providers::Provider& provider);
inline core::HealthState health_of(providers::HealthState state) { return static_cast<core::HealthState>(state); }

// All but the token.
providers::WorkerSpec spec_of(const core::WorkerRecord& record, const std::string& server_address);

// Whose fault it is that a create failed.
core::MakingFailure failure_of(const absl::Status& why);

// Where workers of this machine and of others find a server that listens there: `0.0.0.0:50051` becomes an address of
// this machine that is not loopback, where it has one.
std::string reachable(const std::string& listen);

}  // namespace hodei::server
