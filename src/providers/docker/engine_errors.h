// Turns error messages of the engine into messages that name the cause and what to do.
#pragma once

#include "absl/status/status.h"
#include "src/base/http/client.h"
#include "src/providers/docker/docker_options.h"

namespace hodei::providers::docker {

// The code says what the caller may do (see Provider::create_worker); `what` was tried.
absl::Status engine_error(std::string_view what, const http::Response& response);
// The same for an error in the middle of an answer, as a pull reports it.
absl::Status engine_error(std::string_view what, int status, std::string_view message);

// No answer at all.
absl::Status unreachable(const EngineAddress& engine, const absl::Status& why);

}  // namespace hodei::providers::docker
