// Whether this worker can take work, as it says of itself in its heartbeats. What cannot work should say so before jobs
// fail on it one after the other.
#pragma once

#include <cstdint>
#include <string>

namespace hodei::worker {

// Below this, neither working folders nor results have a place.
inline constexpr int64_t kLeastFreeDisk = int64_t{16} << 20;

// A file of this name in the state folder, written by whoever watches over the machine, takes the worker out of service
// as long as it is there; its first line is the reason.
inline constexpr const char* kUnfitFile = "unfit";

// "ok", or what is wrong.
std::string status_of(const std::string& state_dir);

}  // namespace hodei::worker
