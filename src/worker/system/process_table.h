// Reads /proc: the parents of processes, whether they are alive, and their environment.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace hodei::worker {

struct ProcessState {
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  bool zombie = false;
  bool kernel_thread = false;
  bool no_environment = false;  // it has wiped it, or it is not for us to see
  int64_t cpu_ticks = 0;        // its own, and of the children that it has waited for
  int64_t memory_pages = 0;
  uint64_t started = 0;  // in ticks since the machine's start
};

std::optional<ProcessState> state_of(pid_t pid);
std::map<pid_t, ProcessState> all_processes();

// The process itself and all that descend from it, as far as their parents live.
std::set<pid_t> with_descendants(std::set<pid_t> found, const std::map<pid_t, ProcessState>& all);

// Whether a process was given NAME=value in its environment. `Unclear`: in the moment of the look it had none, because
// it was becoming another program or ending; ask again.
enum class Carries : uint8_t { No, Yes, Unclear };
Carries carries(pid_t pid, const std::string& pair);

}  // namespace hodei::worker
