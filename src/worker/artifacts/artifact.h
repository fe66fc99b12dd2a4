// One artifact of a job, in the plain struct of the worker.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hodei::worker {

inline constexpr int64_t kDefaultArtifactBytes = int64_t{10} << 30;

struct ArtifactOrder {
  std::string url;
  std::string path;    // in the job's folder; never empty once it was read
  std::string sha256;  // lower case; empty: not checked
  int64_t max_bytes = kDefaultArtifactBytes;
  bool unpack = false;
  bool optional = false;
};

// From a serialized v1::Artifact.
ArtifactOrder read_artifact(std::string_view serialized);

}  // namespace hodei::worker
