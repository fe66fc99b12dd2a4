// The tar that brings the static worker into a container. Only its headers are made in memory: the program is read from
// its file while it is sent.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace hodei::providers::docker {

// Where things lie in the container.
inline constexpr const char* kWorkerPath = "/.hodei/hodei-worker";
inline constexpr const char* kStatePath = "/.hodei/state";

class WorkerTar {
 public:
  // An empty path: only the folders, for an image that has the worker already. `shared_state`: the state folder may be
  // used by any user, because the worker will not be root.
  static absl::StatusOr<WorkerTar> make(const std::string& worker_binary, bool shared_state);

  int64_t size() const { return static_cast<int64_t>(head_.size()) + file_size_ + tail_size_; }
  absl::StatusOr<size_t> read(int64_t offset, std::span<char> into) const;

 private:
  WorkerTar() = default;

  std::string head_;                 // the folders, and the header of the file
  std::shared_ptr<const int> file_;  // closed with the last copy
  int64_t file_size_ = 0;
  int64_t tail_size_ = 0;  // zeros: to the next block, and the end
};

}  // namespace hodei::providers::docker
