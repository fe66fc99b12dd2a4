// Credentials for registries, from a file in the form of docker's config.json. It is read at each pull, so that what
// `docker login` wrote meanwhile counts, and is never kept.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hodei::providers::docker {

// The X-Registry-Auth header for a registry; empty when the file has nothing for it. `config` is the file's text.
absl::StatusOr<std::string> registry_auth(std::string_view config, const std::string& registry);

// The same from the file. With an empty path the user's own file is looked for, and may be absent.
absl::StatusOr<std::string> registry_auth_of_file(const std::string& path, const std::string& registry);

}  // namespace hodei::providers::docker
