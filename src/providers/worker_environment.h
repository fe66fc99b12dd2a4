// The environment of a created worker, the same in every process, container, pod and microVM. `hodei agent` and
// `hodei-worker` read it as their settings.
#pragma once

#include "src/providers/provider.h"

namespace hodei::providers {

// The marks that a provider puts on what it makes, as labels, annotations or the environment.
inline constexpr const char* kInstallationLabel = "hodei.installation";
inline constexpr const char* kProviderLabel = "hodei.provider";
inline constexpr const char* kWorkerLabel = "hodei.worker";

// HODEI_SERVER, HODEI_TOKEN, HODEI_WORKER_ID and so on. `state_dir` is where the worker may keep its session.
StringMap worker_environment(const ProviderConfig& provider, const Capabilities& capabilities, const WorkerSpec& spec,
                             const std::string& state_dir);

std::string_view name(Isolation isolation);

}  // namespace hodei::providers
