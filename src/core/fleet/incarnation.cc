#include "src/core/fleet/incarnation.h"

#include <charconv>

#include "src/base/text.h"

namespace hodei::core {

bool speaks_for(const Incarnation& now, const Incarnation& before) {
  if (before.id.empty() || before.id == now.id) return true;
  return !now.lineage.empty() && now.lineage == before.lineage && now.generation > before.generation;
}

std::string to_text(const Incarnation& i) {
  const bool plain = i.lineage.empty() && i.id.find('\n') == std::string::npos;
  return plain ? i.id : cat(i.id, "\n", i.lineage, "\n", i.generation);
}

Incarnation parse_incarnation(std::string_view text) {
  const size_t last = text.rfind('\n');
  const size_t first =
      last == std::string_view::npos || last == 0 ? std::string_view::npos : text.rfind('\n', last - 1);
  if (first == std::string_view::npos) return {.id = std::string(text)};
  Incarnation out{.id = std::string(text.substr(0, first)),
                  .lineage = std::string(text.substr(first + 1, last - first - 1))};
  const std::string_view number = text.substr(last + 1);
  std::from_chars(number.data(), number.data() + number.size(), out.generation);
  return out;
}

}  // namespace hodei::core
