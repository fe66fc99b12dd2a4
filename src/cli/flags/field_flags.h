// Errors of the server name fields of the API. People typed flags: a message names the flag first, and the field behind
// it for those who write job files.
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
