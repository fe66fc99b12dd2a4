#include "src/base/sizes.h"

#include <cmath>
#include <iterator>
#include <string_view>

#include "src/base/text.h"

namespace hodei {

std::string size_text(int64_t bytes) {
  constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return cat(bytes, " B");
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // What would be rounded to 1024 is 1 of the next unit.
  while (value >= 1023.95 && unit + 1 < std::size(kUnits)) value /= 1024, ++unit;
  const double rounded = std::round(value * 10) / 10;
  return rounded == std::floor(rounded) ? fmt::format("{:.0f} {}", rounded, kUnits[unit])
                                        : fmt::format("{:.1f} {}", rounded, kUnits[unit]);
}

std::pair<std::string, std::string> megabytes_apart(int64_t a, int64_t b) {
  std::pair<std::string, std::string> out(megabytes_text(a), megabytes_text(b));
  if (a == b || out.first != out.second) return out;
  return {cat(a, " MiB"), cat(b, " MiB")};
}

}  // namespace hodei
