// The output of one job, from its process to a subscriber.
#pragma once

#include <cstdint>
#include <string>

namespace hodei::bench {

struct Output {
  int64_t lines = 0;   // that came to their end
  int64_t pieces = 0;  // entries without a newline: the worker holds an unfinished line back only for a moment
  int64_t bytes = 0;   // newlines included
  int64_t gaps = 0;    // anything but 0 is a failure
  double seconds = 0;  // from the submission to the end of the subscription
};

// Runs `program lines` as a job (bench/lines.c) and reads all that it prints.
Output job_output(const std::string& server, const std::string& program, int64_t lines);

}  // namespace hodei::bench
