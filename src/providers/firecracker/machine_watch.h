// Tells when a machine's process ends.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "src/providers/firecracker/fd.h"
#include "src/providers/firecracker/machine_files.h"

namespace hodei::providers::firecracker {

class MachineWatch {
 public:
  explicit MachineWatch(const MachineFiles& files) : files_(files) {}
  ~MachineWatch() { stop(); }

  void start(Provider::Changed changed);
  // Returns when no call is under way.
  void stop();
  // Another machine is there.
  void look_again() const;

 private:
  void run(std::stop_token stop, const Provider::Changed& changed) const;

  const MachineFiles& files_;
  Fd wake_;
  std::jthread thread_;
};

}  // namespace hodei::providers::firecracker
