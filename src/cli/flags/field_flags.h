// Names flags in error messages. The server's errors name fields of the API, but people typed flags: a message names
// the flag first, and then the field, for those who write job files.
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace hodei::cli {

// "timeout_ms: must be …" becomes "--timeout (timeout_ms): must be …" when --timeout was given; otherwise the message
// stays as it is.
std::string with_flag(const CLI::App& root, std::string_view message);

}  // namespace hodei::cli
