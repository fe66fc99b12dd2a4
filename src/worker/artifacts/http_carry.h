// `http:` and `https:` URLs: GET that goes on where it broke off, and PUT.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "absl/status/status.h"

namespace hodei::worker {

absl::Status fetch_http(const std::string& url, int file, int64_t max_bytes, const std::stop_token& stop);
absl::Status send_http(int file, int64_t size, const std::string& url, const std::stop_token& stop);

}  // namespace hodei::worker
