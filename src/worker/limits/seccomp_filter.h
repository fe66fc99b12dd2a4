// The system calls that a sandboxed job may not make.
//
// A list of what is refused, in the spirit of Docker's default profile: what changes mounts, modules, the clock or the
// running kernel, what looks into other processes, what makes namespaces, and keys. They fail with EPERM.
#pragma once

#include <linux/filter.h>

#include <vector>

#include "absl/status/statusor.h"

namespace hodei::worker {

// Compiled once; valid for the whole life of the process.
const absl::StatusOr<std::vector<sock_filter>>& default_filter();

}  // namespace hodei::worker
