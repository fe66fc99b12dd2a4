#include "src/cli/terminal/surroundings.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "src/base/hash.h"
#include "src/base/status.h"

namespace hodei::cli {
namespace {

constexpr size_t kLargestInput = 16 << 20;  // a file of jobs
constexpr size_t kLongestLine = 1 << 20;

bool write_all(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t n = ::write(fd, data.data(), data.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      pollfd wait{fd, POLLOUT, 0};
      ::poll(&wait, 1, -1);
      continue;
    }
    if (n < 0) return false;
    data.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

absl::StatusOr<std::string> read_all(int fd, std::string_view name, size_t limit) {
  std::string out;
  char buffer[16384];
  while (true) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return absl::InvalidArgumentError(cat(name, ": cannot be read: ", std::strerror(errno)));
    if (n == 0) return out;
    out.append(buffer, static_cast<size_t>(n));
    if (out.size() > limit) return absl::InvalidArgumentError(cat(name, ": is larger than ", limit, " bytes"));
  }
}

absl::StatusOr<std::string> ask_line(std::string_view prompt) {
  write_all(STDERR_FILENO, prompt);
  std::string line(kLongestLine, '\0');
  const ssize_t got = ::read(STDIN_FILENO, line.data(), line.size());  // a terminal gives one line
  line.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  if (line.ends_with("\n")) line.pop_back();
  return line;
}

size_t terminal_columns() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::vector<std::string> names_in_environment() {
  std::vector<std::string> names;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    names.emplace_back(text.substr(0, text.find('=')));
  }
  return names;
}

absl::StatusOr<std::string> ask_hidden(std::string_view prompt) {
  termios shown{};
  ::tcgetattr(STDIN_FILENO, &shown);
  termios hidden = shown;
  hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
  write_all(STDERR_FILENO, prompt);
  std::string line(kLongestLine, '\0');
  const ssize_t got = ::read(STDIN_FILENO, line.data(), line.size());  // a terminal gives one line
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
  write_all(STDERR_FILENO, "\n");
  line.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  if (line.ends_with("\n")) line.pop_back();
  return line;
}

bool wait_for(Duration d) {
  const timespec span{d.count() / 1'000'000, d.count() % 1'000'000 * 1000};
  ::ppoll(nullptr, 0, &span, nullptr);
  return true;
}

}  // namespace

Surroundings real_surroundings() {
  static const SystemClock clock;
  Surroundings s;
  s.out = [](std::string_view data) { return write_all(STDOUT_FILENO, data); };
  s.err = [](std::string_view data) { return write_all(STDERR_FILENO, data); };
  s.env = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
  s.read_stdin = [] { return read_all(STDIN_FILENO, "standard input", kLargestInput); };
  s.open_input = open_standard_input;
  s.in_is_terminal = ::isatty(STDIN_FILENO) == 1;
  if (s.in_is_terminal) s.read_hidden = ask_hidden;
  if (s.in_is_terminal && ::isatty(STDERR_FILENO) == 1) s.ask = ask_line;
  s.columns = terminal_columns;
  s.env_names = names_in_environment;
  s.pause = wait_for;
  s.clock = &clock;
  s.out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  s.err_is_terminal = ::isatty(STDERR_FILENO) == 1;
  s.handle_signals = true;
  return s;
}

absl::StatusOr<std::string> read_small_file(const std::string& path, size_t limit) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    const std::string why = cat(path, ": cannot be opened: ", std::strerror(errno));
    return errno == ENOENT ? absl::NotFoundError(why) : absl::InvalidArgumentError(why);
  }
  absl::StatusOr<std::string> text = read_all(fd, path, limit);
  ::close(fd);
  return text;
}

std::string random_id() {
  uint64_t bits[2] = {};
  if (::getrandom(bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
    // No entropy call: time and pid still differ between two calls of people.
    const Now now = SystemClock().now();
    bits[0] = mix64(static_cast<uint64_t>(now.mono.us));
    bits[1] = mix64(static_cast<uint64_t>(::getpid()) ^ static_cast<uint64_t>(now.wall.us) << 20);
  }
  return fmt::format("{:016x}{:016x}", bits[0], bits[1]);
}

}  // namespace hodei::cli
