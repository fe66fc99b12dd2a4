// How long labels and the rules about them may be. The server refuses more, and the command line says so before it
// asks.
#pragma once

#include <cstddef>

namespace hodei {

inline constexpr size_t kMaxLabelKey = 200;    // characters; also of keys of rules and tolerations
inline constexpr size_t kMaxLabelValue = 500;  // likewise
inline constexpr size_t kMaxRuleValues = 100;  // of one rule

}  // namespace hodei
