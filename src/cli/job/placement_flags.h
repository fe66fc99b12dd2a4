// The flags of `run` and `job submit` for isolation, preferences and job affinity.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "hodei/v1/job.pb.h"

namespace CLI {
class App;
}

namespace hodei::cli {

struct PlacementFlags {
  std::string isolation, preferred_provider;
  std::vector<std::string> prefer, near, away, prefer_near, prefer_away;
};

void add_placement_flags(CLI::App& command, PlacementFlags& flags);
absl::Status set_placement_flags(const PlacementFlags& flags, v1::JobSpec& spec);

}  // namespace hodei::cli
