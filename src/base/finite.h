// Floating-point numbers from outside: requests, files, stored rows, measurements. A NaN is neither below nor above any
// limit, and turning one into an integer is undefined; so every such number passes one of these before it is used.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "src/base/status.h"

namespace hodei {

// False for a NaN and for both infinities (the limits are finite).
inline bool is_within(double value, double low, double high) { return value >= low && value <= high; }

// For what somebody asked for: a value out of range is refused. `hint` follows the message, for example "; 0: none".
inline absl::Status check_within(std::string_view field, double value, double low, double high,
                                 std::string_view hint = "") {
  if (is_within(value, low, high)) return absl::OkStatus();
  return bad_field(field, "must be a number from ", low, " to ", high, hint, ", not ", value);
}

// For what was measured or stored: a value out of range becomes the nearest limit, and a NaN becomes `otherwise`. The
// result is never a negative zero.
inline double bounded(double value, double low, double high, double otherwise) {
  if (std::isnan(value)) return otherwise;
  return std::clamp(value, low, high) + 0.0;
}

// The same as an integer, rounded to the nearest. The limits must fit into 64 bits.
int64_t bounded_whole(double value, int64_t low, int64_t high);

// Thousandths of a core, rounded up, so that a small share stays a share; a NaN is none. `cores` is bounded by
// kMostCores.
inline constexpr double kMostCores = 1e6;
int64_t milli_cores(double cores);

}  // namespace hodei
