#include "src/providers/docker/worker_tar.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "src/base/status.h"

namespace hodei::providers::docker {
namespace {

constexpr int64_t kBlock = 512;
constexpr int64_t kEnd = 2 * kBlock;

void write_octal(std::string& block, size_t at, size_t digits, uint64_t value) {
  for (size_t i = digits; i-- > 0; value >>= 3) block[at + i] = static_cast<char>('0' + (value & 7));
}

// One header of the format `ustar`, owned by root.
std::string header(std::string_view name, char type, unsigned mode, uint64_t size) {
  std::string block(kBlock, '\0');
  name.copy(block.data(), 100);
  write_octal(block, 100, 7, mode);
  write_octal(block, 108, 7, 0);
  write_octal(block, 116, 7, 0);
  write_octal(block, 124, 11, size);
  write_octal(block, 136, 11, 0);  // no time: the same worker gives the same bytes
  block.replace(148, 8, 8, ' ');   // the sum is taken with spaces in its place
  block[156] = type;
  block.replace(257, 8, std::string_view("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  write_octal(block, 148, 6, sum);
  block[154] = '\0';
  return block;
}

std::string folder(const char* path, unsigned mode) { return header(cat(path + 1, "/"), '5', mode, 0); }

}  // namespace

absl::StatusOr<WorkerTar> WorkerTar::make(const std::string& worker_binary, bool shared_state) {
  WorkerTar tar;
  tar.head_ = folder("/.hodei", 0755) + folder(kStatePath, shared_state ? 01777 : 0700);
  tar.tail_size_ = kEnd;
  if (worker_binary.empty()) return tar;
  const int fd = open(worker_binary.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat facts {};
  if (fd < 0 || fstat(fd, &facts) != 0) {
    const std::string why = std::strerror(errno);
    if (fd >= 0) close(fd);
    return absl::FailedPreconditionError(cat("the static worker ", worker_binary, " cannot be read: ", why));
  }
  tar.file_ = std::shared_ptr<const int>(new int(fd), [](const int* open) {
    close(*open);
    delete open;
  });
  tar.file_size_ = facts.st_size;
  tar.head_ += header(kWorkerPath + 1, '0', 0755, static_cast<uint64_t>(facts.st_size));
  tar.tail_size_ += (kBlock - facts.st_size % kBlock) % kBlock;
  return tar;
}

absl::StatusOr<size_t> WorkerTar::read(int64_t offset, std::span<char> into) const {
  const auto head = static_cast<int64_t>(head_.size());
  if (offset < head) return head_.copy(into.data(), into.size(), static_cast<size_t>(offset));
  offset -= head;
  if (offset < file_size_) {
    const size_t want = std::min(into.size(), static_cast<size_t>(file_size_ - offset));
    const ssize_t got = pread(*file_, into.data(), want, offset);
    if (got < 0) return absl::UnavailableError(cat("the static worker cannot be read: ", std::strerror(errno)));
    return static_cast<size_t>(got);
  }
  const size_t zeros = std::min(into.size(), static_cast<size_t>(file_size_ + tail_size_ - offset));
  std::fill_n(into.begin(), zeros, '\0');
  return zeros;
}

}  // namespace hodei::providers::docker
