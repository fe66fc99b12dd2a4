// Files of configuration and credentials: read whole, never more than a limit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace hodei::providers::kubernetes {

inline constexpr size_t kLargestFile = 1 << 20;

// `what` names the file's part in errors: "kubeconfig", "the user's tokenFile".
absl::StatusOr<std::string> read_small_file(const std::string& path, std::string_view what);

// Changes when the file does; also when it appears or goes.
struct FileStamp {
  std::string path;
  int64_t modified_ns = -1;
  int64_t size = -1;
  uint64_t inode = 0;

  bool operator==(const FileStamp&) const = default;
};

FileStamp stamp_of(const std::string& path);
bool unchanged(const std::vector<FileStamp>& stamps);

// RFC 4648, with padding or without; white space does not count.
absl::StatusOr<std::string> base64_decoded(std::string_view text, std::string_view what);

// What a file or a plugin gives as token may end with a line end; anything else than visible letters is refused,
// because it goes into a header.
absl::StatusOr<std::string> as_token(std::string text, std::string_view what);

}  // namespace hodei::providers::kubernetes
