#include "src/main/console_keeper.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace hodei {
namespace {

constexpr std::string_view kName = "@console";
constexpr std::string_view kFull = "\n[the console is full; what follows is not kept]\n";

bool write_whole(std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(STDOUT_FILENO, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    text.remove_prefix(static_cast<size_t>(wrote));
  }
  return true;
}

void keep(int64_t room) {
  char bytes[4096];
  while (true) {
    const ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;  // the machine has ended
    if (room <= 0) continue;
    const auto kept = static_cast<size_t>(std::min<int64_t>(room, got));
    room -= static_cast<int64_t>(kept);
    // A full disk ends nothing either.
    if (!write_whole({bytes, kept})) room = 0;
    if (room == 0) write_whole(kFull);
  }
}

}  // namespace

bool was_console_keeper(int argc, char** argv, int& exit_code) {
  if (argc != 3 || argv[1] != kName) return false;
  exit_code = 0;
  // Whoever started it waits for this process only; the other one lives as long as the machine.
  if (const pid_t child = fork(); child != 0) {
    exit_code = child < 0 ? 1 : 0;
    return true;
  }
  keep(std::atoll(argv[2]));
  return true;
}

}  // namespace hodei
