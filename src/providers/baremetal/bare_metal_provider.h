// Machines on which people start agents themselves. It makes and ends nothing: it stands for those agents, which name
// it in HODEI_WORKER_PROVIDER, so that jobs can ask for them, and so that they are counted together.
//
// Options: none.
#pragma once

#include "src/providers/provider.h"

namespace hodei::providers {

absl::StatusOr<std::unique_ptr<Provider>> make_bare_metal_provider(const ProviderConfig& config,
                                                                   const Installation& installation);

}  // namespace hodei::providers
