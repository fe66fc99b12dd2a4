// Templates: `${name}` in any string of a stored spec is replaced by the value of a parameter.
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

// Checks the declared names, also for duplicates.
absl::Status check_parameters(const std::vector<Parameter>& declared);

// The value of every declared parameter: the given one or the default. An unknown or missing parameter is an error that
// lists the declared ones.
absl::StatusOr<Values> bind(const std::vector<Parameter>& declared, const Values& given);

// The largest total size of a template's strings after substitution.
inline constexpr size_t kMaxRendered = 1 << 20;

// `${name}` → its value; `$${` → a literal `${`; any other `$` stays. An undeclared name is an error, and so is a
// result of more than `most` bytes.
absl::StatusOr<std::string> substitute(std::string_view text, const Values& values, size_t most = kMaxRendered);

}  // namespace hodei::core
