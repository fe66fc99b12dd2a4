// Runs a user's program once, with text as input and output, a time limit and a size limit. Its standard error is shown
// to people.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/base/time.h"

namespace hodei::providers {

inline constexpr size_t kMostOutput = 1 << 20;
inline constexpr size_t kMostComplaint = 4096;  // the end of standard error is kept

struct ProgramRun {
  std::vector<std::string> arguments;  // the program first, as an absolute path
  std::string input;
  Duration limit = 30s;
};

struct ProgramOutcome {
  enum class End : uint8_t { Exited, Killed, TimedOut, TooMuch };
  End end = End::Exited;
  int code = 0;  // the exit code, or the signal
  std::string output;
  std::string complaint;
};

// FAILED_PRECONDITION: it cannot be run at all. Past its limits it is killed with everything in its process group.
absl::StatusOr<ProgramOutcome> run_program(const ProgramRun& run);

}  // namespace hodei::providers
