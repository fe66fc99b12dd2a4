// Measures the memory, CPU time and descriptors that this process uses, for its metrics.
#pragma once

#include <cstdint>

namespace hodei {

struct ProcessFigures {
  double cpu_seconds = 0;  // user and system
  int64_t resident_bytes = 0;
  int64_t virtual_bytes = 0;
  int64_t open_fds = 0;
  int64_t max_fds = 0;
  double start_seconds = 0;  // since 1970
};

ProcessFigures read_process_figures();

}  // namespace hodei
