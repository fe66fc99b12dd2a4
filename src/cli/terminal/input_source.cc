#include "src/cli/terminal/input_source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>

namespace hodei::cli {
namespace {

bool is_dev_null(const struct stat& info) { return S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3); }

class StandardInput final : public InputSource {
 public:
  StandardInput() : stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~StandardInput() override { ::close(stop_); }

  absl::StatusOr<std::string> read(size_t most) override {
    std::string bytes(most, '\0');
    while (true) {
      // poll() says of a file that it can always be read.
      pollfd fds[] = {{STDIN_FILENO, POLLIN, 0}, {stop_, POLLIN, 0}};
      if (::poll(fds, 2, -1) < 0 && errno != EINTR) return absl::ErrnoToStatus(errno, "waiting for standard input");
      if (fds[1].revents != 0) return absl::CancelledError("stopped");
      if (fds[0].revents == 0) continue;
      const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got < 0) return absl::ErrnoToStatus(errno, "reading standard input");
      bytes.resize(static_cast<size_t>(got));
      return bytes;
    }
  }
  void stop() override { ::eventfd_write(stop_, 1); }

 private:
  const int stop_;
};

}  // namespace

std::shared_ptr<InputSource> open_standard_input() {
  struct stat info {};
  const int flags = ::fcntl(STDIN_FILENO, F_GETFL);
  const bool readable = flags >= 0 && (flags & O_ACCMODE) != O_WRONLY && ::fstat(STDIN_FILENO, &info) == 0;
  if (!readable || is_dev_null(info) || S_ISDIR(info.st_mode)) return nullptr;
  return std::make_shared<StandardInput>();
}

}  // namespace hodei::cli
