// Notices when the output of a command cannot be written. A full disk or a closed pipe is an error of any command: it
// is reported once, and the exit code shows it.
#pragma once

#include <string>

#include "src/cli/terminal/surroundings.h"

namespace hodei::cli {

struct OutputErrors {
  int error = 0;      // errno of the first write to stdout that failed; 0: none did
  bool told = false;  // the command has reported it itself
};

// The same surroundings, with every write to stdout noted in `errors`, which outlives them. After the first one that
// fails, nothing more is written.
Surroundings watch_output(const Surroundings& io, OutputErrors& errors);

// "No space left on device", or that the reader has closed the pipe.
std::string write_error_text(int error);

// The exit code of a command that would have ended with `code`; reports an error that was not reported yet.
int exit_code_after_output(const OutputErrors& errors, const Surroundings& io, bool is_run, int code);

}  // namespace hodei::cli
