// One microVM, as both engines understand it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hodei::providers::firecracker {

struct Drive {
  std::string id;
  std::string path;
  bool read_only = false;
};

struct Machine {
  std::string id;      // unique on the host: the installation's mark and the worker's id
  std::string folder;  // all that is this machine's alone
  int vcpus = 1;
  int64_t cpu_milli = 0;  // of them that it may use; 0: all
  int64_t memory_mb = 0;
  std::string kernel;
  std::string initramfs;
  std::string boot_arguments;  // besides those that the engine needs
  std::vector<Drive> drives;
  std::string tap;  // empty: no network
  std::string mac;
  int64_t largest_file = 0;
  std::string monitor_log;     // as Firecracker sees it; empty: it has none of its own
  std::string console_keeper;  // the static worker, which writes the console's file
  std::string jail_parent;     // the control group that holds those of this installation's jails
};

// Files in a machine's folder. A worker's id begins with a letter or digit, so nothing of its own has these names.
inline std::string record_of(const std::string& folder) { return folder + "/process"; }
inline std::string console_of(const std::string& folder) { return folder + "/console.log"; }
inline constexpr const char* kMonitorLog = "firecracker.log";  // there, or in the root folder of its jail

}  // namespace hodei::providers::firecracker
