#include "src/cli/terminal/terminal_keys.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace hodei::cli {
namespace {

constexpr char kCtrlC = 3;

}  // namespace

TerminalKeys::TerminalKeys() {
  is_terminal_ = isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &before_) == 0;
  if (!is_terminal_) return;
  termios raw = before_;
  // Ctrl-C as a key: a signal would end us before the terminal is as it was.
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

TerminalKeys::~TerminalKeys() {
  if (is_terminal_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

bool TerminalKeys::wants_to_leave_within(Duration time) const {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  const int count = poll(&input, 1, static_cast<int>(time.count() / 1000));
  if (count <= 0) return count < 0 && errno != EINTR;
  char key = 0;
  if (read(STDIN_FILENO, &key, 1) != 1) return true;
  return key == 'q' || key == 'Q' || key == kCtrlC;
}

}  // namespace hodei::cli
