// A number with its noun, in the singular or the plural: "1 job", "3 jobs", "2 processes", "5 entries".
#pragma once

#include <string>
#include <string_view>

#include "src/base/text.h"

namespace hodei {

inline std::string plural(std::string_view noun) {
  const auto ends_with = [noun](auto... endings) { return (noun.ends_with(endings) || ...); };
  if (ends_with("s", "x", "ch", "sh")) return cat(noun, "es");
  if (ends_with("ay", "ey", "oy", "uy") || !ends_with("y")) return cat(noun, "s");
  return cat(noun.substr(0, noun.size() - 1), "ies");
}

template <class Number>
std::string counted(Number count, std::string_view noun) {
  return count == 1 ? cat("1 ", noun) : cat(count, " ", plural(noun));
}

}  // namespace hodei
