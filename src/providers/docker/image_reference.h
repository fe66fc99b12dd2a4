// Parses the name of an image into the parts that the engine and registries need.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hodei::providers::docker {

struct ImageReference {
  std::string name;      // with the registry, when it was written: registry.example:5000/team/tool
  std::string tag;       // or a digest, sha256:…; `latest` when neither was written
  std::string registry;  // the key of its credentials: registry.example:5000, or Docker Hub's

  // As people write it; a digest after '@'.
  std::string text() const;
};

inline constexpr const char* kDockerHub = "https://index.docker.io/v1/";

absl::StatusOr<ImageReference> parse_image(std::string_view text);

}  // namespace hodei::providers::docker
