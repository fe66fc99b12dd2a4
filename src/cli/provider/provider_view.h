// Formats providers and pools for people.
#pragma once

#include <string>

#include "hodei/v1/provider_service.pb.h"
#include "src/cli/job/job_view.h"

namespace hodei::cli {

std::string provider_table(const v1::ListProvidersResponse& providers, const ViewOptions& options);
std::string provider_page(const v1::Provider& provider, const ViewOptions& options);
std::string health_text(const std::string& provider, const v1::ProviderHealth& health, const ViewOptions& options);
std::string pool_table(const v1::ListPoolsResponse& pools, const ViewOptions& options);

}  // namespace hodei::cli
