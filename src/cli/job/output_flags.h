// The flags of `run` and `job submit` that say how a job's output is stored.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "hodei/v1/job.pb.h"

namespace CLI {
class App;
}

namespace hodei::cli {

struct OutputFlags {
  std::string policy, limit, rate;
};

void add_output_flags(CLI::App& command, OutputFlags& flags);
absl::Status set_output(const OutputFlags& flags, v1::JobSpec& spec);

}  // namespace hodei::cli
