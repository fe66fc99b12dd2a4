// Firecracker's jailer: a root folder of its own, another user, a control group, all around one machine's process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/providers/firecracker/machine.h"

namespace hodei::providers::firecracker {

struct JailOptions {
  std::string jailer;  // path of the program; empty: no jail
  uint32_t uid = 0, gid = 0;
};

// Where the jailer makes the root folder. It is below the machine's own folder, and goes with it.
std::string jail_root(const std::string& firecracker, const std::string& id, const std::string& folder);

// What Firecracker and its jailer take as an id: up to 64 letters, digits and dashes.
std::string jail_id(const std::string& worker);

// Puts the machine's files into the jail; the paths of the answer are as seen from inside.
absl::StatusOr<Machine> move_into_jail(const JailOptions& options, const std::string& root, const Machine& machine);

// The command line up to Firecracker's own arguments.
std::vector<std::string> jailer_arguments(const JailOptions& options, const std::string& firecracker,
                                          const Machine& machine);

// Removes the control groups of the jails in a machine's folder, by whatever ids an older version gave them, and the
// one that held them when it is empty. Older versions had them below a group named after Firecracker's program.
absl::Status remove_jail_groups(const std::string& firecracker, const std::string& parent, const std::string& folder);

}  // namespace hodei::providers::firecracker
