// The providers that provider-check can make, by type.
#pragma once

#include <string>
#include <vector>

#include "src/providers/conformance/suite.h"

namespace hodei::providers {

using Factory = absl::StatusOr<std::unique_ptr<Provider>> (*)(const ProviderConfig&, const Installation&);

// Null: no provider of this type is known here.
Factory factory_of(const std::string& type);
std::vector<std::string> known_types();

}  // namespace hodei::providers
