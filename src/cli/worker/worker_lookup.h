// Finds workers by what people type: an id, the beginning of an id, or a name.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace hodei::cli {

struct Session;

// The id of the one worker that is meant. NOT_FOUND: none is; INVALID_ARGUMENT: several could be, and names them.
absl::StatusOr<std::string> find_worker(Session& session, const std::string& typed);

}  // namespace hodei::cli
