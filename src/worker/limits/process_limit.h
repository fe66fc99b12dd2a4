// Sets how many processes a cgroup of version 1 or 2 may hold, and writes the limit only when it changes.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace hodei::worker {

class ProcessLimit {
 public:
  // `file`: pids.max of the cgroup; empty: nothing can be limited, and nothing is.
  ProcessLimit(std::string file, uint64_t most_by_default) : file_(std::move(file)), default_(most_by_default) {}

  absl::Status set(int64_t most);  // 0: the default
  bool is_limited() const { return wanted_ > 0; }

 private:
  std::string file_;
  uint64_t default_;  // 0: no limit
  uint64_t wanted_ = 0;
  uint64_t written_ = 0;  // 0: no limit, as a new cgroup has
};

}  // namespace hodei::worker
