// The file system as the log segments see it: a small port, so that a test can cut the power under it.
//
// The contract is POSIX's weakest: what was not synced may be lost in any part and order; a name is only there after a
// crash once its folder was synced; a removed file stays readable for those who have it open.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hodei::store {

class AppendFile {
 public:
  virtual ~AppendFile() = default;
  // On an error any part of the bytes may have been written. No space left is RESOURCE_EXHAUSTED.
  virtual absl::Status append(std::string_view bytes) = 0;
  virtual absl::Status sync() = 0;
  virtual absl::Status truncate(int64_t size) = 0;
};

// Any number of threads may read at once, also while somebody appends to the same file.
class ReadFile {
 public:
  virtual ~ReadFile() = default;
  // Fewer bytes only at the end of the file.
  virtual absl::StatusOr<std::string> read(int64_t offset, size_t size) const = 0;
};

struct FileEntry {
  std::string name;
  int64_t size = 0;
};

class Files {
 public:
  virtual ~Files() = default;
  virtual absl::Status make_folder(const std::string& folder) = 0;
  virtual absl::Status sync_folder(const std::string& folder) = 0;
  virtual absl::StatusOr<std::vector<FileEntry>> list(const std::string& folder) = 0;
  virtual absl::StatusOr<std::unique_ptr<AppendFile>> open_append(const std::string& path) = 0;    // made when missing
  virtual absl::StatusOr<std::shared_ptr<const ReadFile>> open_read(const std::string& path) = 0;  // or NOT_FOUND
  virtual absl::Status rename(const std::string& from, const std::string& to) = 0;                 // replaces `to`
  virtual absl::Status remove(const std::string& path) = 0;
  virtual absl::StatusOr<int64_t> free_bytes(const std::string& folder) = 0;  // on its disk
};

// The machine's own file system.
Files& disk_files();

}  // namespace hodei::store
