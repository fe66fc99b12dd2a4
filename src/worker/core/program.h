// What the supervisor runs: a job's spec translated to the terms of the operating system.
#pragma once

#include <string>
#include <vector>

#include "src/base/time.h"

namespace hodei::worker {

// Stands for the execution's private folder in argv; only the supervisor knows which folder that is. It holds a NUL, so
// that nothing a person can write looks like it.
inline constexpr std::string_view kFolderMark = {"\0folder", 7};

// What an execution may take. 0: no limit of its own.
struct ProgramLimits {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  int64_t pids = 0;
  int64_t io_weight = 0;   // 1 to 1000
  int64_t disk_bytes = 0;  // in the private folder

  bool operator==(const ProgramLimits&) const = default;
};

// What becomes of its output.
struct OutputRules {
  bool drop = false;      // rather than make the job wait
  int64_t max_bytes = 0;  // 0: no limit
  int64_t max_bytes_per_second = 0;

  bool operator==(const OutputRules&) const = default;
};

struct SandboxRules {
  bool enabled = false;
  std::string user;  // a name or a number; empty: nobody, when the worker is root
  bool allow_network = false;
  bool writable_root = false;
  bool shared_tmp = false;
  bool allow_all_syscalls = false;

  bool operator==(const SandboxRules&) const = default;
};

struct Program {
  struct File {
    std::string name;  // a plain name inside the private folder
    std::string content;
  };
  std::vector<std::string> argv;  // argv[0] is searched in its PATH unless it has a slash
  std::vector<std::string> env;   // NAME=value, on top of what all jobs of a worker have in common
  std::string working_dir;        // empty: the private folder
  std::vector<File> files;        // written before the start, mode 0700
  Duration timeout{0};
  Duration grace{0};
  std::string impossible;          // not empty: it cannot be run, and why
  std::string impossible_failure;  // the word for that; empty: spawn_failed
  std::string input;               // what it reads from stdin; empty: stdin is closed at once
  bool streams_input = false;      // stdin is a pipe instead, into which comes what agents send
  std::vector<File> secret_files;  // on a tmpfs of its own, in $HODEI_SECRETS
  std::string folder;              // its private folder, made by the agent; empty: one of the supervisor's
  ProgramLimits limits;
  OutputRules output;
  SandboxRules sandbox;
};

}  // namespace hodei::worker
