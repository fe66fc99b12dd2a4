#include "src/main/self_install.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace hodei {
namespace {

constexpr mode_t kMode = 0755;  // whoever runs in the other container

absl::Status failure(std::string_view what, const std::string& path) {
  return absl::UnavailableError(cat("install: cannot ", what, " ", path, ": ", std::strerror(errno)));
}

absl::Status copy_all(int from, int to, const std::string& path) {
  char piece[64 << 10];
  for (ssize_t got = 0; (got = read(from, piece, sizeof(piece))) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure("read", "this program");
    for (ssize_t done = 0; done < got;) {
      const ssize_t written = write(to, piece + done, static_cast<size_t>(got - done));
      if (written < 0 && errno != EINTR) return failure("write", path);
      if (written > 0) done += written;
    }
  }
  if (fchmod(to, kMode) != 0) return failure("make executable", path);
  return absl::OkStatus();
}

// Under another name first: nobody may start half of it.
absl::Status install(const char* self, const std::string& path) {
  int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (from < 0) from = open(self, O_RDONLY | O_CLOEXEC);
  if (from < 0) return failure("open", self);
  const std::string unfinished = cat(path, ".new");
  const int to = open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
  absl::Status done = to < 0 ? failure("create", unfinished) : copy_all(from, to, unfinished);
  close(from);
  if (to >= 0 && close(to) != 0 && done.ok()) done = failure("write", unfinished);
  if (done.ok() && rename(unfinished.c_str(), path.c_str()) != 0) done = failure("create", path);
  if (!done.ok()) unlink(unfinished.c_str());
  return done;
}

}  // namespace

bool was_self_install(int argc, char** argv, int& exit_code) {
  if (argc < 2 || std::string_view(argv[1]) != "install") return false;
  if (argc != 3) {
    std::fprintf(stderr, "usage: hodei-worker install PATH: copies this program to PATH\n");
    exit_code = 2;
    return true;
  }
  const absl::Status done = install(argv[0], argv[2]);
  if (!done.ok()) std::fprintf(stderr, "hodei-worker: %s\n", std::string(done.message()).c_str());
  exit_code = done.ok() ? 0 : 1;
  return true;
}

}  // namespace hodei
