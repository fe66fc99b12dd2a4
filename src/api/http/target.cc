#include "src/api/http/target.h"

#include <algorithm>

#include "src/base/http/percent.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// A proxy is sent `GET http://host/path`, and every server must understand it.
std::string_view without_origin(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!SameInAnyCase()(text.substr(0, scheme.size()), scheme)) continue;
    text.remove_prefix(scheme.size());
    return text.substr(std::min(text.find_first_of("/?"), text.size()));
  }
  return text;
}

absl::StatusOr<std::vector<Segment>> parse_path(std::string_view path) {
  std::vector<Segment> out;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::string_view raw = path.substr(0, path.find('/'));
    path.remove_prefix(raw.size());
    ASSIGN_OR_RETURN(std::string text, http::percent_decoded(raw));
    if (text == "." || text == "..") {
      return absl::InvalidArgumentError("the path contains '.' or '..'; write it without them");
    }
    out.push_back({std::string(raw), std::move(text)});
  }
  return out;
}

absl::StatusOr<std::string> decode_form(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return http::percent_decoded(spaced);
}

absl::StatusOr<Parameters> parse_query(std::string_view query) {
  Parameters out;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(part.size() + 1, query.size()));
    if (part.empty()) continue;
    const std::string_view name = part.substr(0, part.find('='));
    ASSIGN_OR_RETURN(std::string decoded, decode_form(name));
    ASSIGN_OR_RETURN(std::string value, decode_form(part.substr(std::min(name.size() + 1, part.size()))));
    out.add(std::move(decoded), std::move(value));
  }
  return out;
}

}  // namespace

bool SameInAnyCase::operator()(std::string_view a, std::string_view b) const {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

absl::StatusOr<Target> parse_target(std::string_view text) {
  Target out;
  if (text == "*") {
    out.path = text;
    return out;
  }
  text = without_origin(text);
  const std::string_view path = text.substr(0, text.find('?'));
  const std::string_view query = text.substr(std::min(path.size() + 1, text.size()));
  out.path = path.empty() ? "/" : std::string(path);
  if (!out.path.starts_with('/')) return absl::InvalidArgumentError("the target does not begin with '/'");
  // A fragment is the client's own business and never sent.
  if (text.find('#') != std::string_view::npos) return absl::InvalidArgumentError("the target contains a '#'");
  ASSIGN_OR_RETURN(out.segments, parse_path(out.path));
  ASSIGN_OR_RETURN(out.query, parse_query(query));
  return out;
}

}  // namespace hodei::api
