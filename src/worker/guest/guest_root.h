// From the initramfs of a microVM into the root file system that its jobs see: read-only below, this machine's own
// layer above, so that one file on the host serves any number of machines.
#pragma once

#include "absl/status/status.h"
#include "src/worker/guest/guest_disks.h"

namespace hodei::worker {

// Afterwards this process is in the new root, and this program is in there too. Without a scratch disk what is written
// stays in memory.
absl::Status enter_root(const GuestDisks& disks);

// Runs this program again from the new root, with the same environment. Returns only when it cannot.
absl::Status start_again_in_root();

}  // namespace hodei::worker
