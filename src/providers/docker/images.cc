#include "src/providers/docker/images.h"

#include <fstream>
#include <vector>

#include "src/base/sha256.h"
#include "src/base/status.h"
#include "src/providers/docker/registry_auth.h"

namespace hodei::providers::docker {
namespace {

std::string sum(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  Sha256 sum;
  std::vector<char> piece(1 << 20);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0) {
    sum.add({piece.data(), static_cast<size_t>(in.gcount())});
  }
  return in.eof() ? sum.hex() : std::string();
}

}  // namespace

absl::StatusOr<ImageFacts> Images::have(const std::string& name, std::stop_token stop) {
  ASSIGN_OR_RETURN(const ImageReference image, parse_image(name));
  const bool own = name == kOwnImage;
  if (options_.pull != PullPolicy::Always || own) {
    ASSIGN_OR_RETURN(std::optional<ImageFacts> found, engine_.image(name));
    if (found) return *found;
  }
  // Nobody publishes it under this name: a pull would only find a stranger's.
  if (own) {
    return absl::NotFoundError(
        "image hodei-worker:latest does not exist; build it with scripts/docker/build-worker, or set an image "
        "for the job (--image) or for the provider (option image)");
  }
  if (options_.pull == PullPolicy::Never) {
    return absl::NotFoundError(cat("image ", name,
                                   ": not present on the engine, and the option pull is 'never'; run `docker pull ",
                                   name, "` there, or set pull to 'missing'"));
  }
  RETURN_IF_ERROR(pull(image, stop));
  ASSIGN_OR_RETURN(std::optional<ImageFacts> found, engine_.image(name));
  if (!found) return absl::NotFoundError(cat("image ", name, ": still missing after the engine pulled it"));
  return *found;
}

absl::Status Images::pull(const ImageReference& image, std::stop_token stop) {
  ASSIGN_OR_RETURN(const std::string auth, registry_auth_of_file(options_.registry_auth, image.registry));
  return engine_.pull(image, auth, stop);
}

std::string Images::sum_of(const std::string& file) {
  {
    const std::lock_guard lock(mutex_);
    if (summed_ == file) return sum_;
  }
  const std::string found = sum(file);
  const std::lock_guard lock(mutex_);
  summed_ = file;
  return sum_ = found;
}

}  // namespace hodei::providers::docker
