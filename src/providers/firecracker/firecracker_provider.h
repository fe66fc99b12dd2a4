// Workers in microVMs: each with a kernel of its own, booted by Firecracker where KVM works, else by QEMU.
#pragma once

#include "src/providers/provider.h"

namespace hodei::providers {

absl::StatusOr<std::unique_ptr<Provider>> make_firecracker_provider(const ProviderConfig& config,
                                                                    const Installation& installation);

}  // namespace hodei::providers
