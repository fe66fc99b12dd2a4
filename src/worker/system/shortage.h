// Recognizes shortages of this machine: disk space, memory, processes, descriptors. A job that cannot start because of
// one is requeued, and another worker takes it.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "src/worker/core/execution.h"

namespace hodei::worker {

bool is_shortage(int error);  // of errno

// As absl::ErrnoToStatus, but what comes of a shortage is marked as such: status codes alone also stand for limits that
// a job has set itself.
absl::Status errno_status(int error, const std::string& what);
bool is_shortage(const absl::Status& status);
// The same shortage with another message.
absl::Status reworded(const absl::Status& status, const std::string& words);

// The end of an execution that this machine could not start: it is reported as lost, and does not count as an attempt.
Exit not_started_here(std::string why);

}  // namespace hodei::worker
