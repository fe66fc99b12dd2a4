// Makes sure that the engine has an image, according to the pull policy.
#pragma once

#include <mutex>
#include <stop_token>
#include <string>

#include "src/providers/docker/engine.h"

namespace hodei::providers::docker {

class Images {
 public:
  Images(Engine& engine, const DockerOptions& options) : engine_(engine), options_(options) {}

  absl::StatusOr<ImageFacts> have(const std::string& name, std::stop_token stop);

  // The SHA-256 of a file, counted once; empty when it cannot be read.
  std::string sum_of(const std::string& file);

 private:
  absl::Status pull(const ImageReference& image, std::stop_token stop);

  Engine& engine_;
  const DockerOptions& options_;
  std::mutex mutex_;
  std::string summed_;
  std::string sum_;
};

}  // namespace hodei::providers::docker
