// The version of this build.
#pragma once

namespace hodei {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace hodei
