#include "src/worker/artifacts/local_carry.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <functional>
#include <vector>

#include "src/base/random.h"
#include "src/base/sha256.h"
#include "src/base/status.h"
#include "src/worker/system/fd.h"
#include "src/worker/system/shortage.h"

namespace hodei::worker {
namespace {

constexpr size_t kPiece = 256 << 10;

absl::Status read_all(int file, const std::function<absl::Status(std::string_view)>& take) {
  std::vector<char> piece(kPiece);
  int64_t offset = 0;
  while (true) {
    const ssize_t got = pread(file, piece.data(), piece.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return absl::ErrnoToStatus(errno, "reading");
    if (got == 0) return absl::OkStatus();
    offset += got;
    RETURN_IF_ERROR(take({piece.data(), static_cast<size_t>(got)}));
  }
}

absl::Status copy(int from, int to, int64_t max_bytes, const std::stop_token& stop) {
  int64_t copied = 0;
  return read_all(from, [&](std::string_view piece) -> absl::Status {
    if (stop.stop_requested()) return absl::CancelledError("stopped");
    copied += static_cast<int64_t>(piece.size());
    if (copied > max_bytes)
      return absl::ResourceExhaustedError(cat("is larger than the limit of ", max_bytes, " bytes"));
    while (!piece.empty()) {
      const ssize_t wrote = write(to, piece.data(), piece.size());
      if (wrote <= 0) return errno_status(errno, "writing");
      piece.remove_prefix(static_cast<size_t>(wrote));
    }
    return absl::OkStatus();
  });
}

}  // namespace

absl::Status fetch_local(const std::string& path, int file, int64_t max_bytes, const std::stop_token& stop) {
  const Fd source(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!source.is_open()) return absl::ErrnoToStatus(errno, path);
  struct stat info {};
  if (fstat(source.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return absl::FailedPreconditionError(cat(path, ": is not a regular file"));
  }
  return copy(source.get(), file, max_bytes, stop);
}

absl::Status send_local(int file, const std::string& path, const std::stop_token& stop) {
  const std::string beside = cat(path, ".", random_uuid());
  const Fd target(open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!target.is_open()) return absl::ErrnoToStatus(errno, path);
  absl::Status result = copy(file, target.get(), INT64_MAX, stop);
  if (result.ok() && (fsync(target.get()) != 0 || rename(beside.c_str(), path.c_str()) != 0)) {
    result = absl::ErrnoToStatus(errno, path);
  }
  if (!result.ok()) unlink(beside.c_str());
  return result;
}

absl::StatusOr<std::string> sha256_of(int file) {
  Sha256 sum;
  RETURN_IF_ERROR(read_all(file, [&](std::string_view piece) {
    sum.add(piece);
    return absl::OkStatus();
  }));
  return sum.hex();
}

}  // namespace hodei::worker
