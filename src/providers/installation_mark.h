// A short mark of an installation in the names of what providers create, because two servers on one engine, cluster or
// host may give the same worker id to different workers.
#pragma once

#include <string>
#include <string_view>

namespace hodei::providers {

// Eight hexadecimal digits, always the same ones for an installation.
std::string installation_mark(std::string_view installation_id);

}  // namespace hodei::providers
