// Reads processes from /proc. It recognizes a process even if its number was used again, and finds processes by marks
// in their environment.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "src/base/time.h"

namespace hodei::providers {

// One process of this boot. A number alone says nothing: it is given to others later.
struct ProcessName {
  pid_t pid = 0;
  uint64_t started = 0;  // in ticks since boot

  bool operator==(const ProcessName&) const = default;
};

enum class ProcessState : uint8_t { Gone, Zombie, Alive };

std::string boot_id();
ProcessName name_of(pid_t pid);  // started = 0: there is none
ProcessState state_of(const ProcessName& process);

// A process carries a set of marks when its environment has all of them (NAME=value).
using Marks = std::vector<std::string>;
// All living processes that carry one of the sets, except this one.
std::set<pid_t> marked_processes(const std::vector<Marks>& any_of);

// Signals this process, never another one that got its number later. False: it is gone.
bool signal_process(const ProcessName& process, int signal);
// Until it has ended, or the time is over. True: it has.
bool wait_for_end(const ProcessName& process, Duration limit);
// If it is a child of ours that has ended, its remains are removed. Returns how it ended; empty: not known.
std::string reap(const ProcessName& process);

// SIGKILL to all that carry the marks until none is left. False: some do not die.
bool kill_marked_processes(const std::vector<Marks>& any_of);
// The same for the control groups that a worker made for its jobs under this name; they are removed.
bool kill_control_groups(const std::string& group);

}  // namespace hodei::providers
