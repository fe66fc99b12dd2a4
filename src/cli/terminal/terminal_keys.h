// Reads single keys from a terminal, without waiting for Enter.
#pragma once

#include <termios.h>

#include "src/base/time.h"

namespace hodei::cli {

// While it lives, keys come at once and are not shown, Ctrl-C included. On something that is no terminal it does
// nothing.
class TerminalKeys {
 public:
  TerminalKeys();
  ~TerminalKeys();
  TerminalKeys(const TerminalKeys&) = delete;
  TerminalKeys& operator=(const TerminalKeys&) = delete;

  bool is_terminal() const { return is_terminal_; }
  // True: q or Ctrl-C was pressed before the time was over, or the terminal was closed.
  bool wants_to_leave_within(Duration time) const;

 private:
  bool is_terminal_ = false;
  termios before_{};
};

}  // namespace hodei::cli
