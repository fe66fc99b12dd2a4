// The process of a microVM. It lives longer than the server, and is found again by its record: written by the process
// itself before it becomes the machine, so that there is no moment at which it runs unrecorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "src/base/time.h"

namespace hodei::providers::firecracker {

enum class ProcessState : uint8_t { NeverStarted, Running, Ended };

struct Launch {
  std::vector<std::string> arguments;  // the first is the program's path
  std::string folder;                  // where it starts
  std::string record;
  std::string output;          // file that its output is appended to, up to a limit
  std::string console_keeper;  // the static worker, which keeps to the limit; empty: none does
  int64_t largest_file = 0;    // bytes that it may write to a file
};

// What is kept of a machine's console.
inline constexpr int64_t kMostConsole = 16 << 20;

// Returns when the program runs. Its standard input is empty.
absl::Status start_recorded(const Launch& launch);

ProcessState process_state(const std::string& record);

// Kills it and waits until it is gone.
absl::Status end_process(const std::string& record);

// The pid, to wait for it; -1: does not run.
int running_pid(const std::string& record);

// Runs a program to its end; an error has what it printed.
absl::Status run_program(const std::vector<std::string>& arguments);

}  // namespace hodei::providers::firecracker
