// Which machine has which address: one symbolic link for each, from the address to the worker. Making one is the
// kernel's own exclusive act, it carries its owner from its first moment, and it is there after a restart.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "src/providers/firecracker/address_range.h"

namespace hodei::providers::firecracker {

class Leases {
 public:
  // `lives` tells whether a worker still has anything: what an owner that is gone has left is given to others.
  Leases(std::string folder, AddressRange range, std::function<bool(const std::string& worker)> lives);

  // The next free one, from `from` on and around; RESOURCE_EXHAUSTED: there is none.
  absl::StatusOr<std::string> take(const std::string& worker, uint32_t from);
  void give_back(const std::string& worker);

 private:
  bool take_one(const std::string& address, const std::string& worker);

  std::string folder_;
  AddressRange range_;
  std::function<bool(const std::string&)> lives_;
};

}  // namespace hodei::providers::firecracker
