#include "src/server/input/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "src/base/status.h"

namespace hodei::server {
namespace {

constexpr int64_t kBlock = 512;  // of st_blocks

}  // namespace

InputName input_name_from(std::string_view file) {
  return {.whole = file.find(".whole") != std::string_view::npos, .cut = file.ends_with(".cut")};
}

std::string InputFile::path(InputName name) const {
  return cat(store_->folder, "/", short_id(job_), name.whole ? ".whole" : ".open", name.cut ? ".cut" : "");
}

absl::Status InputFile::sync_folder() const {
  const std::string& folder = store_->folder;
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && fsync(fd) == 0;
  const absl::Status status = synced ? absl::OkStatus() : absl::ErrnoToStatus(errno, "syncing " + folder);
  if (fd >= 0) ::close(fd);
  return status;
}

absl::StatusOr<InputFile::Extent> InputFile::measure(InputName name) const {
  const std::string file = path(name);
  struct stat info {};
  if (stat(file.c_str(), &info) != 0) return absl::ErrnoToStatus(errno, "looking at " + file);
  Extent extent{.size = info.st_size};
  if (name.cut) extent.base = std::max<int64_t>(0, info.st_size - info.st_blocks * kBlock) / kPage * kPage;
  return extent;
}

absl::Status InputFile::open(InputName name, bool is_new) {
  if (fd_ >= 0) return absl::OkStatus();
  const std::string file = path(name);
  fd_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd_ < 0) return absl::ErrnoToStatus(errno, "opening " + file);
  return is_new ? sync_folder() : absl::OkStatus();
}

void InputFile::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

absl::Status InputFile::rename(InputName from, InputName to) {
  if (std::rename(path(from).c_str(), path(to).c_str()) != 0) {
    return absl::ErrnoToStatus(errno, "noting the state of a job's standard input");
  }
  return sync_folder();
}

void InputFile::remove(InputName name) { unlink(path(name).c_str()); }

absl::Status InputFile::write(std::string_view data, int64_t offset) {
  while (!data.empty()) {
    const ssize_t wrote = pwrite(fd_, data.data(), data.size(), offset);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return absl::ErrnoToStatus(errno, "storing a job's standard input");
    data.remove_prefix(static_cast<size_t>(wrote));
    offset += wrote;
  }
  if (fdatasync(fd_) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, "syncing a job's standard input");
}

absl::StatusOr<std::string> InputFile::read(int64_t offset, size_t bytes) const {
  std::string data(bytes, '\0');
  const ssize_t got = pread(fd_, data.data(), bytes, offset);
  if (got != static_cast<ssize_t>(bytes)) return absl::ErrnoToStatus(errno, "reading a job's standard input");
  return data;
}

absl::Status InputFile::cut(int64_t from, int64_t to) {
  if (fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, to - from) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, "standard input: making room for more of it");
}

bool InputFile::is_disk_full(uint64_t more) const {
  struct statvfs disk {};
  if (store_->limits.disk_reserve == 0 || statvfs(store_->folder.c_str(), &disk) != 0) return false;
  return uint64_t{disk.f_bavail} * disk.f_frsize < store_->limits.disk_reserve + more;
}

}  // namespace hodei::server
