// For tests: floating-point numbers that every decoder must refuse, limit, or accept as they are.
#pragma once

#include <limits>
#include <vector>

namespace hodei {

// None of them is an amount: each is refused where somebody asks for it, and bounded where it was measured or stored.
inline std::vector<double> no_amounts() {
  using Limits = std::numeric_limits<double>;
  return {Limits::quiet_NaN(),
          -Limits::quiet_NaN(),
          Limits::signaling_NaN(),
          Limits::infinity(),
          -Limits::infinity(),
          Limits::max(),
          Limits::lowest(),
          1e308,
          -1e308,
          -1,
          -Limits::denorm_min(),
          9.3e18};
}

// These are odd but good: a zero with a sign, and the smallest amounts there are.
inline std::vector<double> tiny_amounts() {
  using Limits = std::numeric_limits<double>;
  return {-0.0, 0.0, Limits::denorm_min(), Limits::min(), 1e-308};
}

}  // namespace hodei
