// "did you mean": the known word that is nearest to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hodei::cli {

// The nearest of `known`, or nothing when none is near enough to be what was meant.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

// "; did you mean 'timeout_ms'?", or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace hodei::cli
