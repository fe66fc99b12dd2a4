// Unpacks an archive of a stranger: tar (also gzip, zstd, xz, bzip2) and zip. libarchive reads it; what is written goes
// through a ConfinedFolder. Files, folders, and links that stay inside; everything else refuses the whole archive.
#pragma once

#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "src/worker/artifacts/confined_folder.h"

namespace hodei::worker {

inline constexpr int64_t kMostArchiveEntries = 100'000;

struct UnpackLimits {
  int64_t bytes = 0;  // of all files together
  int64_t entries = kMostArchiveEntries;
  std::stop_token stop;
};

// Reads from `archive` at its beginning. `below`: a relative path in `folder`, made when it is missing; "." is itself.
absl::Status unpack(int archive, const ConfinedFolder& folder, const std::string& below, const UnpackLimits& limits);

}  // namespace hodei::worker
