// Workers as pods of a Kubernetes cluster, over its REST API. See docs/providers/kubernetes.md.
#pragma once

#include <memory>

#include "src/providers/provider.h"

namespace hodei::providers {

absl::StatusOr<std::unique_ptr<Provider>> make_kubernetes_provider(const ProviderConfig& config,
                                                                   const Installation& installation);

}  // namespace hodei::providers
