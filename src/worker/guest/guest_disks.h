// Finds the disks of a microVM by their content, because the order in which they appear differs between engines.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace hodei::worker {

// Devices such as /dev/vda; empty: not there.
struct GuestDisks {
  std::string settings;  // the worker's settings, the token among them
  std::string root;      // a root file system that many machines share and none writes to
  std::string scratch;   // an empty ext4 of this machine alone
};

// The first bytes of the disk with the settings: then come NUL-ended pairs, and an empty one ends them.
inline constexpr char kSettingsMark[] = "HODEIVM1";
inline constexpr char kScratchLabel[] = "hodei-scratch";

// Waits for a moment until they are there.
absl::StatusOr<GuestDisks> find_guest_disks(bool with_root);

// Puts the settings into the environment, then takes the disk away: jobs have no business with it.
absl::Status take_settings(const std::string& disk);

}  // namespace hodei::worker
