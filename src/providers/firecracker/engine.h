// What boots a machine: Firecracker with KVM, or QEMU with or without.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "src/base/time.h"
#include "src/providers/firecracker/machine.h"

namespace hodei::providers::firecracker {

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string_view name() const = 0;
  virtual std::string program() const = 0;  // its path
  // Returns when the machine boots; its process is recorded and its console goes to a file, both in its folder.
  virtual absl::Status start(const Machine& machine) = 0;
  virtual Duration startup_time() const = 0;
  // A machine that has not booted by then never will: it would keep a processor busy for nothing.
  virtual Duration boot_limit() const = 0;
};

}  // namespace hodei::providers::firecracker
