// How much room a folder takes on its disk.
#pragma once

#include <cstdint>
#include <string>

namespace hodei::worker {

inline constexpr int kMostCounted = 200'000;  // files and folders; what is beyond is not counted

// Blocks, as `du` counts them: a file with several names once, a symbolic link as itself. Never leaves the folder's
// file system.
int64_t disk_usage(const std::string& folder);

}  // namespace hodei::worker
