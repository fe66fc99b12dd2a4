#include "src/worker/artifacts/artifact.h"

#include <cctype>

#include "hodei/v1/job.pb.h"

namespace hodei::worker {
namespace {

std::string last_part(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const size_t cut = url.find_last_of("/:");
  return std::string(cut == std::string_view::npos ? url : url.substr(cut + 1));
}

}  // namespace

ArtifactOrder read_artifact(std::string_view serialized) {
  v1::Artifact in;
  in.ParseFromArray(serialized.data(), static_cast<int>(serialized.size()));
  ArtifactOrder out{.url = in.url(), .path = in.path(), .unpack = in.unpack(), .optional = in.optional()};
  if (out.path.empty()) out.path = out.unpack ? "." : last_part(out.url);
  if (in.max_bytes() > 0) out.max_bytes = in.max_bytes();
  for (const char c : in.sha256()) out.sha256.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  return out;
}

}  // namespace hodei::worker
