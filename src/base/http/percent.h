// Percent-encoding of URLs: `%2F` is a slash that is part of a name and separates nothing.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hodei::http {

// For a segment of a path, or a name or value of a query: everything but letters, digits and `-._~` is escaped.
std::string percent_encoded(std::string_view text);

// INVALID_ARGUMENT for a broken escape, bytes that are not UTF-8, and NUL.
absl::StatusOr<std::string> percent_decoded(std::string_view text);

}  // namespace hodei::http
