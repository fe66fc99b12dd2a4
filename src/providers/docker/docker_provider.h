// Workers in containers of a Docker engine, spoken to over its socket. Any image will do: the static worker is put into
// the container before it starts. docs/providers/docker.md is for people.
#pragma once

#include <memory>

#include "src/providers/provider.h"

namespace hodei::providers {

absl::StatusOr<std::unique_ptr<Provider>> make_docker_provider(const ProviderConfig& config,
                                                               const Installation& installation);

}  // namespace hodei::providers
