// The pattern of a route: `/jobs/{id}:cancel`, `/files/{path...}`.
//
// A segment is a literal, a parameter `{name}`, a parameter with a verb behind it (`{name}:verb`), or, at the end only,
// a wildcard `{name...}` that takes one or more segments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace hodei::api {

struct PatternPart {
  enum class Kind : uint8_t { Literal, Parameter, Wildcard };

  Kind kind = Kind::Literal;
  std::string text;  // of a literal; else the name
  std::string verb;  // of a parameter: what follows it, with its colon

  // Two patterns whose parts are all alike match the same paths, whatever their parameters are called.
  bool is_like(const PatternPart& other) const;
};

struct Pattern {
  std::string text;
  std::vector<PatternPart> parts;

  bool is_literal() const;
};

// INVALID_ARGUMENT: what is wrong with it.
absl::StatusOr<Pattern> parse_pattern(std::string_view text);

}  // namespace hodei::api
