#include "src/server/disk_room.h"

#include "src/base/sizes.h"
#include "src/base/status.h"

namespace hodei::server {

void DiskRoom::note(const absl::StatusOr<uint64_t>& free_bytes) {
  low_ = free_bytes.ok() && *free_bytes < reserve_;
  free_ = free_bytes.value_or(0);
}

absl::Status DiskRoom::check() const {
  if (!low_) return absl::OkStatus();
  return absl::ResourceExhaustedError(cat("the disk of the data folder is nearly full (less than ", size_text(reserve_),
                                          " left): no new jobs are accepted; free some space and try again"));
}

}  // namespace hodei::server
