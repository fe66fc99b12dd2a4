// The environment that all jobs of a worker share: the worker's own without the variables that are meant for the worker
// only. It is stored once, so that a start does not copy it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hodei::worker {

class InheritedEnvironment {
 public:
  InheritedEnvironment() = default;                   // empty
  explicit InheritedEnvironment(char** environment);  // without our settings; PATH is there in any case

  // For execve: what is in common, and over it a job's own pairs (NAME=value). Points into both.
  std::vector<char*> with(std::vector<std::string>& own) const;

  // Where a job's programs are searched.
  std::string_view path(const std::vector<std::string>& own) const;

 private:
  std::vector<std::string> pairs_;  // by name
};

}  // namespace hodei::worker
