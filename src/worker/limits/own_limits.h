// Reads the limits of the worker's own cgroup, such as those of its container.
#pragma once

#include <cstdint>
#include <string>

namespace hodei::worker {

struct OwnLimits {
  int64_t cpu_milli = 0;  // 0: none
  int64_t memory_bytes = 0;
  std::string oom_file;  // counts the processes that the kernel ended for want of memory; empty: there is none
};

// `root` is where the cgroups are, `self` the file that says in which of them this process is.
OwnLimits read_own_limits(const std::string& root = "/sys/fs/cgroup", const std::string& self = "/proc/self/cgroup");

int64_t oom_kills_in(const OwnLimits& own);

}  // namespace hodei::worker
