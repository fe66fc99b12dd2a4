// The three requests about network devices that have no simpler system call.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace hodei::providers::firecracker {

absl::Status add_address(unsigned device, const std::string& address);  // alone, without a network around it

// ALREADY_EXISTS: another device has this route.
absl::Status add_route(unsigned device, const std::string& to, const std::string& from);

absl::Status remove_link(unsigned device);

}  // namespace hodei::providers::firecracker
