#include "src/worker/system/shortage.h"

#include <cerrno>
#include <utility>

#include "absl/strings/cord.h"

namespace hodei::worker {
namespace {

constexpr char kMark[] = "hodei/shortage";

}  // namespace

bool is_shortage(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
    case EIO:    // a disk that fails, and
    case EROFS:  // one that was made read-only for it
      return true;
    default: return false;
  }
}

absl::Status errno_status(int error, const std::string& what) {
  absl::Status status = absl::ErrnoToStatus(error, what);
  if (is_shortage(error)) status.SetPayload(kMark, absl::Cord());
  return status;
}

bool is_shortage(const absl::Status& status) { return status.GetPayload(kMark).has_value(); }

absl::Status reworded(const absl::Status& status, const std::string& words) {
  absl::Status out(status.code(), words);
  if (is_shortage(status)) out.SetPayload(kMark, absl::Cord());
  return out;
}

Exit not_started_here(std::string why) {
  return {.outcome = Outcome::Lost, .failure = "infrastructure", .message = std::move(why)};
}

}  // namespace hodei::worker
