// What the supervisor runs: a job's spec translated to the terms of the operating system.
#pragma once

#include <string>
#include <vector>

#include "src/base/time.h"

namespace hodei::worker {

// Stands for the execution's private folder in argv; only the supervisor knows which folder that is. It holds a NUL, so
// that nothing a person can write looks like it.
inline constexpr std::string_view kFolderMark = {"\0folder", 7};

struct Program {
  struct File {
    std::string name;       // a plain name inside the private folder
    std::string content;
  };
  std::vector<std::string> argv;      // argv[0] is searched in the PATH of `env` unless it has a slash
  std::vector<std::string> env;       // NAME=value, the whole environment
  std::string working_dir;            // empty: the private folder
  std::vector<File> files;            // written before the start, mode 0700
  Duration timeout{0};
  Duration grace{0};
  std::string impossible;             // not empty: it cannot be run, and why
};

}  // namespace hodei::worker
