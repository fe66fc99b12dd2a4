// Joining text. (Debian's absl::StrCat does not take std::string_view.)
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "fmt/format.h"

namespace hodei {

template <class... Parts>
std::string cat(const Parts&... parts) {
  std::string out;
  const auto add = [&out](const auto& part) {
    using Part = std::decay_t<decltype(part)>;
    if constexpr (std::is_convertible_v<const Part&, std::string_view>) {
      out.append(std::string_view(part));
    } else if constexpr (std::is_same_v<Part, char>) {
      out.push_back(part);
    } else {
      fmt::format_to(std::back_inserter(out), "{}", part);
    }
  };
  (add(parts), ...);
  return out;
}

}  // namespace hodei
