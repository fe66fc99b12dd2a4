// Which engine boots the machines. That a program and /dev/kvm are there says little: an engine counts as working with
// KVM only after a guest has booted with it. What was found out holds until the host is started again.
//
// Finding out may take long where KVM hangs instead of failing, so a thread does it, and nobody waits longer for it
// than a good KVM needs: until it is known, QEMU boots machines with software emulation, which works everywhere.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "src/base/time.h"
#include "src/providers/firecracker/engine.h"
#include "src/providers/firecracker/settings.h"

namespace hodei::providers::firecracker {

class EngineChooser {
 public:
  // How long who asks for an engine waits for the verdict when another one can stand in.
  static constexpr Duration kHeadStart = 3s;

  // `folder` is the provider's own; `worker` the static program that guests run.
  // `jail_parent`: see Machine.
  EngineChooser(const Settings& settings, std::string folder, std::string worker, std::string jail_parent,
                Duration head_start = kHeadStart);
  ~EngineChooser();

  // Boots a guest to find out, the first time. FAILED_PRECONDITION: none can work here, and why. Engines live as long
  // as this.
  absl::StatusOr<Engine*> get();
  // The one that get() would give at once; null: none yet. Never waits.
  Engine* chosen();
  // Why `auto` did not take Firecracker; empty: it did, or was not asked, or that is not known yet.
  std::string why_not_firecracker();
  // A guest is being booted to find out whether KVM works, and software emulation is used meanwhile.
  bool is_provisional();

 private:
  void probe();        // on a thread of its own
  Engine* stand_in();  // with the mutex held; null: there is none
  absl::StatusOr<std::unique_ptr<Engine>> choose(std::string& why_not_firecracker);
  absl::StatusOr<std::unique_ptr<Engine>> try_firecracker();
  absl::StatusOr<std::unique_ptr<Engine>> try_qemu();
  // OK: a guest has booted. Asks its notes first.
  absl::Status boots(Engine& engine);
  absl::Status boot_a_guest(Engine& engine);
  void sweep_probes();

  const Settings& settings_;
  const std::string folder_;
  const std::string worker_;
  const std::string jail_parent_;
  const Duration head_start_;
  std::atomic<bool> stopping_ = false;

  std::mutex mutex_;  // guards all below
  std::condition_variable found_out_;
  bool probing_ = false;  // one probe at a time
  std::thread prober_;
  absl::Status verdict_;  // of the last probe; an error: no engine works
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Engine> meanwhile_;
  std::string why_not_firecracker_;
};

}  // namespace hodei::providers::firecracker
