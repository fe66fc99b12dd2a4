#include "src/providers/docker/image_reference.h"

#include <algorithm>
#include <cctype>

#include "src/base/status.h"

namespace hodei::providers::docker {
namespace {

constexpr size_t kLongestName = 512;

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("._-/:@[]+").find(c) != std::string_view::npos;
  });
}

// The first part is a registry when it could be a host; else it is a name on Docker Hub.
std::string registry_of(std::string_view name) {
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos) return kDockerHub;
  const std::string_view first = name.substr(0, slash);
  if (first == "docker.io" || first == "index.docker.io") return kDockerHub;
  const bool host = first == "localhost" || first.find_first_of(".:") != std::string_view::npos;
  return host ? std::string(first) : kDockerHub;
}

}  // namespace

std::string ImageReference::text() const { return cat(name, tag.find(':') == std::string::npos ? ":" : "@", tag); }

absl::StatusOr<ImageReference> parse_image(std::string_view text) {
  if (text.empty() || text.size() > kLongestName || !is_plain(text)) {
    return bad_field("image", "'", text, "' is not an image name; write it as for `docker run`: debian:12");
  }
  ImageReference image{.name = std::string(text), .tag = "latest"};
  if (const size_t at = text.find('@'); at != std::string_view::npos) {
    image.name = text.substr(0, at);
    image.tag = text.substr(at + 1);
    // A tag beside a digest says nothing more.
    const size_t colon = image.name.rfind(':');
    if (colon != std::string::npos && image.name.find('/', colon) == std::string::npos) image.name.resize(colon);
  } else if (const size_t colon = text.rfind(':');
             colon != std::string_view::npos && text.find('/', colon) == std::string_view::npos) {
    image.name = text.substr(0, colon);
    image.tag = text.substr(colon + 1);
  }
  if (image.name.empty() || image.tag.empty()) {
    return bad_field("image", "'", text, "' has an empty name or tag; write it as for `docker run`: debian:12");
  }
  image.registry = registry_of(image.name);
  return image;
}

}  // namespace hodei::providers::docker
