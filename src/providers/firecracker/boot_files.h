// The files that a machine boots with: the initramfs that all share, and the disks of its own.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "src/providers/provider.h"

namespace hodei::providers::firecracker {

// The kernel's drivers, as scripts/firecracker/build-rootfs puts them beside it.
std::string modules_of(const std::string& kernel);

// An initramfs with the kernel's drivers and the worker as its first program, kept in `folder` and made anew when one
// of the two has changed.
absl::StatusOr<std::string> initramfs_for(const std::string& kernel, const std::string& worker,
                                          const std::string& folder);

// A disk with the worker's settings. They do not go into the boot arguments: those are seen by every user of the host
// in the list of processes, and the kernel writes them on its console.
absl::Status write_settings_disk(const std::string& file, const StringMap& settings);

// An empty ext4 that takes no room before something is written. False: nothing here can make one.
absl::StatusOr<bool> make_scratch_disk(const std::string& file, int64_t size_mb);

}  // namespace hodei::providers::firecracker
