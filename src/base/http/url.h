// Parses URLs of http and https.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hodei::http {

struct Url {
  bool secure = false;
  std::string host;  // without the brackets of an IPv6 address
  std::string port;
  std::string target;  // path and query, as they go into the request

  std::string authority() const;  // as in the Host header
  std::string text() const;       // without the query, which may hold a signature: for people
};

// Refuses user names and passwords: a URL is shown and logged.
absl::StatusOr<Url> parse_url(std::string_view text);

// Where a Location header leads, seen from `base`. Never from https to http.
absl::StatusOr<Url> follow_location(const Url& base, std::string_view location);

}  // namespace hodei::http
