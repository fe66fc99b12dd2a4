// What bench/stamp.c leaves behind: a line "asked started" per process, in nanoseconds.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace hodei::bench {

inline std::vector<int64_t> read_stamps(const std::string& file) {
  std::vector<int64_t> latencies;
  std::ifstream in(file);
  int64_t asked = 0;
  int64_t started = 0;
  while (in >> asked >> started) latencies.push_back(started - asked);
  return latencies;
}

}  // namespace hodei::bench
