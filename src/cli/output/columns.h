// Computes how many columns text takes on a screen: most characters take one, those of East Asian scripts and most
// emoji two, and combining accents none.
#pragma once

#include <string>
#include <string_view>

namespace hodei::cli {

size_t columns_of(std::string_view text);

// The beginning of the text, with … at its end when it does not fit into so many columns.
std::string fitted(std::string_view text, size_t columns);

// Broken into lines of at most so many columns, at spaces where there are any. Each line but the first is indented.
std::string wrapped(std::string_view text, size_t columns, size_t indent);

}  // namespace hodei::cli
