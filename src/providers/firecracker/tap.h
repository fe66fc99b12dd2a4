// TAP devices: the host's end of a microVM's only network card. Made with the kernel's own calls, no program needed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/providers/firecracker/fd.h"

namespace hodei::providers::firecracker {

struct Tap {
  std::string name;    // at most 15 characters
  uint32_t owner = 0;  // the user who may attach a machine to it
  std::string host;    // IPv4 address of the host's end; the same on all of them
  std::string guest;   // of the other end: the one address that is reached through this device
};

// The device stays until it is removed, even if this process ends before. ALREADY_EXISTS: another device has the route
// to that guest.
absl::Status make_tap(const Tap& tap);

// OK also when it is not there.
absl::Status remove_tap(const std::string& name);

bool tap_exists(const std::string& name);

// The names of all network devices that begin like this.
std::vector<std::string> devices_named(const std::string& beginning);

// A device that holds an address of this machine as long as the descriptor is open, and is gone with this process
// however it ends: so that the server can listen there before the first machine starts.
absl::StatusOr<Fd> hold_address(const std::string& name, const std::string& address);

}  // namespace hodei::providers::firecracker
