// `file:` URLs: files of the worker's own machine.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"

namespace hodei::worker {

absl::Status fetch_local(const std::string& path, int file, int64_t max_bytes, const std::stop_token& stop);
// Whole or not at all: written beside its place, then moved there.
absl::Status send_local(int file, const std::string& path, const std::stop_token& stop);

// Of the whole file, from its beginning.
absl::StatusOr<std::string> sha256_of(int file);

}  // namespace hodei::worker
