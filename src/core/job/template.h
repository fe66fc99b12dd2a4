// Templates: `${name}` in any string of a stored spec is replaced by a parameter.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace hodei::core {

struct Parameter {
  std::string name;
  std::optional<std::string> default_value;
};

using Values = std::map<std::string, std::string>;

// Checks names and duplicates of the declarations.
absl::Status check_parameters(const std::vector<Parameter>& declared);

// The value of every declared parameter: given, else default. An unknown or missing one is an error that lists what
// there is.
absl::StatusOr<Values> bind(const std::vector<Parameter>& declared, const Values& given);

// What a template may grow to with its parameters, all texts together.
inline constexpr size_t kMaxRendered = 1 << 20;

// `${name}` → its value; `$${` → a literal `${`; any other `$` stays. An undeclared name is an error, and so is what
// would be longer than `most` bytes.
absl::StatusOr<std::string> substitute(std::string_view text, const Values& values, size_t most = kMaxRendered);

}  // namespace hodei::core
