// Which type of provider is made by what. The one place that knows them all.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/providers/provider.h"

namespace hodei::server {

// Checks every option and touches nothing outside; an unknown type is answered with those that there are.
absl::StatusOr<std::unique_ptr<providers::Provider>> make_provider(const providers::ProviderConfig& config,
                                                                   const providers::Installation& installation);

bool has_provider_type(const std::string& type);
std::vector<std::string> provider_types();

}  // namespace hodei::server
