// The limits of labels and label rules. The server refuses longer ones; the command line checks them before it sends a
// request.
#pragma once

#include <cstddef>

namespace hodei {

inline constexpr size_t kMaxLabelKey = 200;    // characters; also of keys of rules and tolerations
inline constexpr size_t kMaxLabelValue = 500;  // likewise
inline constexpr size_t kMaxRuleValues = 100;  // of one rule

}  // namespace hodei
