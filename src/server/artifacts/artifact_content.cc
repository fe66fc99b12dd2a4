// Contents of the artifact store on their way in and out.
#include <unistd.h>

#include <cerrno>

#include "src/base/status.h"
#include "src/server/artifacts/artifact_store.h"

namespace hodei::server {
namespace {

// Written back as it comes, so that the last sync of a large content has little left to do.
constexpr int64_t kSyncEvery = 32 << 20;

}  // namespace

ArtifactStore::Upload::Upload(ArtifactStore& store, ArtifactInfo info, std::string file, int fd)
    : store_(store), info_(std::move(info)), file_(std::move(file)), fd_(fd) {}

ArtifactStore::Upload::~Upload() {
  close(fd_);
  if (kept_) return;
  unlink(store_.path_of(file_).c_str());
  store_.give_back(info_.size);
}

absl::Status ArtifactStore::Upload::append(std::string_view piece) {
  RETURN_IF_ERROR(store_.reserve(static_cast<int64_t>(piece.size())));
  info_.size += static_cast<int64_t>(piece.size());
  sum_.add(piece);
  unsynced_ += static_cast<int64_t>(piece.size());
  while (!piece.empty()) {
    const ssize_t wrote = write(fd_, piece.data(), piece.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return absl::ErrnoToStatus(errno, "writing an artifact");
    piece.remove_prefix(static_cast<size_t>(wrote));
  }
  if (unsynced_ < kSyncEvery) return absl::OkStatus();
  unsynced_ = 0;
  return fdatasync(fd_) == 0 ? absl::OkStatus() : absl::ErrnoToStatus(errno, "syncing an artifact");
}

absl::StatusOr<ArtifactInfo> ArtifactStore::Upload::finish() {
  if (fsync(fd_) != 0) return absl::ErrnoToStatus(errno, "syncing an artifact");
  info_.sha256 = sum_.hex();
  ASSIGN_OR_RETURN(ArtifactInfo kept, store_.keep(*this));
  kept_ = true;
  return kept;
}

ArtifactStore::Content::~Content() { close(fd_); }

absl::StatusOr<std::string> ArtifactStore::Content::read(int64_t offset, size_t most) const {
  std::string out(most, '\0');
  const ssize_t got = pread(fd_, out.data(), most, offset);
  if (got < 0) return absl::ErrnoToStatus(errno, "reading an artifact");
  out.resize(static_cast<size_t>(got));
  return out;
}

}  // namespace hodei::server
