// QEMU's `microvm` machine: the same devices as Firecracker's, also where there is no KVM.
#pragma once

#include "src/providers/firecracker/engine.h"

namespace hodei::providers::firecracker {

struct QemuOptions {
  std::string program;        // path
  bool kvm = false;           // else it emulates the processor
  uint32_t uid = 0, gid = 0;  // whose rights it keeps once everything is open; only root can change them
};

std::vector<std::string> qemu_arguments(const QemuOptions& options, const Machine& machine);

std::unique_ptr<Engine> make_qemu_engine(QemuOptions options);

}  // namespace hodei::providers::firecracker
