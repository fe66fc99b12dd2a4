// A lock on the data folder, so that two servers never use the same one. The operating system releases the lock when
// its process ends, in whatever way.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace hodei::store {

class ServerLock {
 public:
  static absl::StatusOr<ServerLock> take(const std::string& data_dir);
  ServerLock(ServerLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ServerLock& operator=(ServerLock&&) = delete;
  ~ServerLock();

 private:
  explicit ServerLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace hodei::store
