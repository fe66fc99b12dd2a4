// Durable submissions without anybody to run them, and the bare call that they are measured against.
#pragma once

#include <string>

#include "bench/lib/closed_loop.h"
#include "hodei/v1/job_service.pb.h"

namespace hodei::bench {

v1::JobSpec noop_spec();

Rate submissions(const std::string& server, int in_flight, Bound bound);
// A call that is refused at the border, without a look-up or the loop: what gRPC alone can do here.
Rate echoes(const std::string& server, int in_flight, Bound bound);
// Jobs, `size` of them per call, one call at a time.
Rate batches(const std::string& server, int size, Bound bound);

}  // namespace hodei::bench
