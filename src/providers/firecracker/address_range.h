// The private IPv4 network of a provider's microVMs: the host has its first address, every machine one of the others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hodei::providers::firecracker {

struct AddressRange {
  uint32_t base = 0;  // in the machine's own byte order
  int prefix = 24;

  std::string host() const;
  uint32_t guests() const { return (uint32_t{1} << (32 - prefix)) - 3; }  // without net, host and broadcast
  std::string guest(uint32_t index) const;                                // 0 … guests() - 1
};

// 172.31.9.0/24; from /16 to /29.
absl::StatusOr<AddressRange> parse_range(std::string_view text);

// One of 256 networks of 172.31.0.0/16, always the same for this text, so that two installations rarely share one.
AddressRange default_range(std::string_view words);

std::string format_address(uint32_t address);

// Where a machine reaches the server: addresses that are the host's own business become the host's one in this network.
// `servers` is host:port, several comma-separated, with or without http:// before it.
std::string as_seen_by_guest(const std::string& servers, const AddressRange& range);

}  // namespace hodei::providers::firecracker
