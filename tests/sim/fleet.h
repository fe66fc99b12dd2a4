// Seeds side by side in processes of their own: an engine that finds its own state broken ends its process, and the
// seed that did it is known all the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/sim/simulation.h"

namespace hodei::sim {

struct Failure {
  uint64_t seed = 0;
  std::string what;
};

struct Tally {
  uint64_t seeds = 0;
  uint64_t jobs = 0;
  std::vector<Failure> failures;  // by the order of seeds
};

// Stops after `stop_at` failures. No processes (0): one seed after another in this one.
Tally run_fleet(const std::vector<uint64_t>& seeds, const Options& options, uint64_t processes, uint64_t stop_at);

}  // namespace hodei::sim
