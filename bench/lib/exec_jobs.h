// Jobs end to end through the real server, supervisor and agent.
#pragma once

#include <string>
#include <vector>

#include "bench/lib/closed_loop.h"
#include "hodei/v1/job.pb.h"

namespace hodei::bench {

// Keeps `in_flight` of these jobs between their submission and their durable end.
Rate exec_jobs(const std::string& server, const v1::JobSpec& spec, int in_flight, Bound bound);

// From the client's call to the first line of the child's main(), which writes it to `file` (bench/stamp.c).
std::vector<int64_t> exec_latencies(const std::string& server, const std::string& stamp, const std::string& file,
                                    double per_second, Bound bound);

}  // namespace hodei::bench
