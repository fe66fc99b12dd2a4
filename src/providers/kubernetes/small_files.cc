#include "src/providers/kubernetes/small_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "src/base/status.h"

namespace hodei::providers::kubernetes {
namespace {

int digit_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

}  // namespace

absl::StatusOr<std::string> read_small_file(const std::string& path, std::string_view what) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return absl::FailedPreconditionError(cat(what, ": cannot open ", path, ": ", std::strerror(errno)));
  std::string text;
  char piece[16 << 10];
  ssize_t got = 0;
  while (text.size() <= kLargestFile && (got = read(fd, piece, sizeof(piece))) > 0)
    text.append(piece, static_cast<size_t>(got));
  const int error = errno;
  close(fd);
  if (got < 0) return absl::FailedPreconditionError(cat(what, ": cannot read ", path, ": ", std::strerror(error)));
  if (text.size() > kLargestFile) {
    return absl::FailedPreconditionError(
        cat(what, ": ", path, " is larger than the limit of ", kLargestFile, " bytes"));
  }
  return text;
}

FileStamp stamp_of(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return {.path = path};
  return {.path = path,
          .modified_ns = int64_t{found.st_mtim.tv_sec} * 1'000'000'000 + found.st_mtim.tv_nsec,
          .size = found.st_size,
          .inode = found.st_ino};
}

bool unchanged(const std::vector<FileStamp>& stamps) {
  return std::all_of(stamps.begin(), stamps.end(), [](const FileStamp& s) { return stamp_of(s.path) == s; });
}

absl::StatusOr<std::string> base64_decoded(std::string_view text, std::string_view what) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  bool padded = false;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    if (c == '=') {
      padded = true;
      continue;
    }
    const int digit = digit_of(c);
    if (digit < 0 || padded) return absl::FailedPreconditionError(cat(what, ": is not base64"));
    bits = (bits << 6) | static_cast<uint32_t>(digit);
    if ((count += 6) >= 8) {
      count -= 8;
      out.push_back(static_cast<char>((bits >> count) & 0xff));
    }
  }
  return out;
}

absl::StatusOr<std::string> as_token(std::string text, std::string_view what) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  const bool visible = std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (text.empty()) return absl::FailedPreconditionError(cat(what, ": contains no token"));
  if (!visible)
    return absl::FailedPreconditionError(cat(what, ": a token must not contain spaces or control characters"));
  return text;
}

}  // namespace hodei::providers::kubernetes
