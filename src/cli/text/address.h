// Parses the address of a server: host:port, with or without http:// in front.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace hodei::cli {

inline constexpr int kDefaultGrpcPort = 50051;

struct Address {
  std::string host;  // an IPv6 address without its brackets
  int port = kDefaultGrpcPort;

  bool operator==(const Address&) const = default;
};

absl::StatusOr<Address> parse_address(std::string_view text);
absl::StatusOr<std::vector<Address>> parse_addresses(std::string_view text);  // comma-separated, at least one

// Where to listen, host and port, or `off` (nothing).
absl::StatusOr<std::optional<Address>> parse_listen(std::string_view text);

std::string to_string(const Address& address);  // host:port, [v6]:port
bool is_loopback(const Address& address);

}  // namespace hodei::cli
