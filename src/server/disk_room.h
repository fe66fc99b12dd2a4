// How much room the disk of the data folder has. Read by any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hodei::server {

class DiskRoom {
 public:
  // `reserve` is kept so that what runs can still be recorded.
  explicit DiskRoom(uint64_t reserve) : reserve_(reserve) {}

  // What was measured last; an error: it could not be measured.
  void note(const absl::StatusOr<uint64_t>& free_bytes);

  bool is_low() const { return low_; }
  uint64_t free_bytes() const { return free_; }
  // RESOURCE_EXHAUSTED while the disk is nearly full.
  absl::Status check() const;

 private:
  const uint64_t reserve_;
  std::atomic<bool> low_ = false;
  std::atomic<uint64_t> free_ = 0;
};

}  // namespace hodei::server
