// The target of a request, taken apart: `/jobs/a%2Fb?limit=3` has the segments `jobs` and `a/b` and the parameter
// `limit`. Segments are separated before they are decoded, so an escaped slash never separates anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "src/api/http/named_values.h"

namespace hodei::api {

struct Segment {
  std::string raw;   // as it came
  std::string text;  // decoded: UTF-8 without NUL, and neither `.` nor `..`

  bool operator==(const Segment&) const = default;
};

struct Target {
  std::string path;  // as it came, without the query; `*` for the whole server
  std::vector<Segment> segments;
  Parameters query;

  bool is_whole_server() const { return path == "*"; }
};

// INVALID_ARGUMENT: what is wrong with it.
absl::StatusOr<Target> parse_target(std::string_view text);

}  // namespace hodei::api
