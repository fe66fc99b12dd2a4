// Checks whether pods can be created: the API server is ready, and we have the rights.
#pragma once

#include <string>

#include "src/providers/kubernetes/api.h"
#include "src/providers/provider.h"

namespace hodei::providers::kubernetes {

Health check_health(Api& api, const std::string& namespace_name);

}  // namespace hodei::providers::kubernetes
