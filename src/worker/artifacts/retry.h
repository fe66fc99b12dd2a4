// Repeats a transfer that failed because of the network.
#pragma once

#include <functional>
#include <stop_token>

#include "absl/status/status.h"

namespace hodei::worker {

inline constexpr int kTransferAttempts = 5;  // in a row without getting any further
// Of what goes to the server's own store, about a quarter of an hour: a server whose disk is full says so with
// UNAVAILABLE.
inline constexpr int kServerStoreAttempts = 100;

// Calls `attempt` until it succeeds or fails for good; UNAVAILABLE and DEADLINE_EXCEEDED are worth another try, after a
// pause that grows. `progress` tells how far it is: an attempt that got further begins the count again.
absl::Status with_retries(const std::stop_token& stop, const std::function<absl::Status()>& attempt,
                          const std::function<int64_t()>& progress, int attempts_in_a_row = kTransferAttempts);

}  // namespace hodei::worker
