// Which engine boots the machines. That a program and /dev/kvm are there says little: an engine counts as working with
// KVM only after a guest has booted with it. What was found out holds until the host is started again.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "src/providers/firecracker/engine.h"
#include "src/providers/firecracker/settings.h"

namespace hodei::providers::firecracker {

class EngineChooser {
 public:
  // `folder` is the provider's own; `worker` the static program that guests run.
  // `jail_parent`: see Machine.
  EngineChooser(const Settings& settings, std::string folder, std::string worker, std::string jail_parent);

  // Boots a guest to find out, the first time. FAILED_PRECONDITION: none can work here, and why.
  absl::StatusOr<Engine*> get();
  // The one that was chosen already; null: none yet.
  Engine* chosen();
  // Why `auto` did not take Firecracker; empty: it did, or was not asked.
  std::string why_not_firecracker();

 private:
  absl::StatusOr<std::unique_ptr<Engine>> choose();
  absl::StatusOr<std::unique_ptr<Engine>> try_firecracker();
  absl::StatusOr<std::unique_ptr<Engine>> try_qemu();
  // OK: a guest has booted. Asks its notes first.
  absl::Status boots(Engine& engine);
  absl::Status boot_a_guest(Engine& engine);
  void sweep_probes();

  const Settings& settings_;
  std::string folder_;
  std::string worker_;
  std::string jail_parent_;
  std::mutex mutex_;  // one probe at a time
  std::unique_ptr<Engine> engine_;
  std::string why_not_firecracker_;
};

}  // namespace hodei::providers::firecracker
