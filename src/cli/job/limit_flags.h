// The flags of `run` and `job submit` that limit what a job may use, and that run it in a sandbox.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "hodei/v1/job.pb.h"

namespace CLI {
class App;
}

namespace hodei::cli {

struct LimitFlags {
  std::string cpu, memory, pids, io_weight, storage, sandbox_user;
  std::vector<std::string> sandbox_allow;
  bool sandbox = false;
};

void add_limit_flags(CLI::App& command, LimitFlags& flags);
absl::Status set_limits(const LimitFlags& flags, v1::JobSpec& spec);

}  // namespace hodei::cli
