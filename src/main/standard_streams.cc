#include "src/main/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace hodei {

void fill_missing_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    // The lowest free number is taken, which is this one. Opened the wrong way round on purpose.
    const int opened = ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened >= 0 && opened != stream) ::close(opened);
  }
}

// gRPC's library makes an eventfd in its constructor: only functions in this section come before those.
__attribute__((section(".preinit_array"), used)) static void (*const kFillBeforeLibraries)() = fill_missing_streams;

}  // namespace hodei
