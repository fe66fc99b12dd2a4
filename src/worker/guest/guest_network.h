// Sets up the network of a microVM: one card with one address. The host is the only other machine on it.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace hodei::worker {

// `address` is IPv4 with a prefix length, as in 172.31.9.7/24; empty: only the loopback comes up.
absl::Status bring_network_up(const std::string& address, const std::string& gateway);

}  // namespace hodei::worker
