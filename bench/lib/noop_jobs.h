// Jobs end to end through a worker that starts no process: each has its own id and its three durable transitions.
#pragma once

#include <string>
#include <vector>

#include "bench/lib/closed_loop.h"

namespace hodei::bench {

// The next is submitted when one has ended durably. With batch > 1, that many per call.
Rate noop_jobs(const std::string& server, int in_flight, int batch, Bound bound);

// From the client's call to the worker's receipt, in nanoseconds, one entry per job. `per_second` 0: idle, each job is
// submitted a moment after the one before has ended.
std::vector<int64_t> noop_latencies(const std::string& server, double per_second, Bound bound);

// Runs what waits in the server until nothing does, or the time is up.
Rate drain(const std::string& server, double seconds);

}  // namespace hodei::bench
