// Runs a program of the user to its end, with a time limit, and returns its output, its errors and its exit.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "src/base/time.h"

namespace hodei::providers::kubernetes {

struct ChildProgram {
  std::vector<std::string> command;                              // looked for in PATH
  std::vector<std::pair<std::string, std::string>> environment;  // besides ours
  Duration time = 20s;
  size_t most_output = 1 << 20;
};

struct ChildResult {
  int exit_code = 0;  // 128 + the signal for one that was killed
  std::string output;
  std::string errors;  // the beginning
};

// DEADLINE_EXCEEDED when it took too long, RESOURCE_EXHAUSTED when it printed too much: it and its group are killed
// then.
absl::StatusOr<ChildResult> run_child(const ChildProgram& program);

}  // namespace hodei::providers::kubernetes
