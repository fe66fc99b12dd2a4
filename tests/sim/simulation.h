// One simulated installation: one to three servers, workers, clients and everything that goes wrong, from one seed.
#pragma once

#include <cstdint>
#include <string>

namespace hodei::sim {

struct Options {
  uint64_t seed = 1;
  bool trace = false;
  uint64_t digest_every = 100;
  uint64_t without = 0;  // kinds of trouble that do not happen, a bit each in the order of kTroubles
};

// By name, so that people can leave out what they do not look for.
inline constexpr const char* kTroubles[] = {
    "crash", "agent-kill", "supervisor-kill", "freeze", "unheard", "deaf", "pause", "clock", "flap", "refusal", "lie",
    "twin",  "stop",       "log-disk",        "away"};

struct Outcome {
  std::string failure;  // empty: every promise was kept
  uint64_t jobs = 0;    // lives that ended
  uint64_t commits = 0;
};

Outcome simulate(const Options& options);

}  // namespace hodei::sim
