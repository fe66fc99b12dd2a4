// Describes how long each phase of an execution took.
#pragma once

#include <string>

#include "hodei/v1/job.pb.h"
#include "src/base/time.h"

namespace hodei::cli {

// Of the newest execution: "waited 12ms, prepared 0.3s, started in 1ms, ran 12.0s". Empty when it has none.
std::string phases(const v1::Job& job, WallTime now);

}  // namespace hodei::cli
