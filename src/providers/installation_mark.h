// A few characters that stand for an installation in the names of what providers make: two servers on one engine,
// cluster or host give the same worker id to different workers.
#pragma once

#include <string>
#include <string_view>

namespace hodei::providers {

// Eight hexadecimal digits, always the same ones for an installation.
std::string installation_mark(std::string_view installation_id);

}  // namespace hodei::providers
