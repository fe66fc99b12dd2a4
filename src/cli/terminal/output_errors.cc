#include "src/cli/terminal/output_errors.h"

#include <cerrno>
#include <cstring>

#include "src/base/text.h"
#include "src/cli/terminal/exit_code.h"

namespace hodei::cli {

Surroundings watch_output(const Surroundings& io, OutputErrors& errors) {
  Surroundings watched = io;
  watched.out = [&errors, write = io.out](std::string_view data) {
    if (errors.error != 0) return false;
    errno = 0;
    if (write(data)) return true;
    errors.error = errno != 0 ? errno : EPIPE;
    return false;
  };
  return watched;
}

std::string write_error_text(int error) {
  return error == EPIPE ? std::string("the reader has closed the pipe") : std::string(std::strerror(error));
}

int exit_code_after_output(const OutputErrors& errors, const Surroundings& io, bool is_run, int code) {
  if (errors.error == 0) return code;
  if (!errors.told)
    io.err(cat("hodei: error: cannot write to standard output: ", write_error_text(errors.error), "\n"));
  if (code != kOk) return code;
  return is_run ? kPlatform : kRefused;
}

}  // namespace hodei::cli
