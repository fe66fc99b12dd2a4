// The target of an HTTP request, and a router that looks for it. The first line is a target, the others are patterns of
// routes.
#include <vector>

#include "src/api/http/router.h"
#include "src/base/utf8.h"
#include "tests/fuzz/fuzz.h"

using namespace hodei;
using namespace hodei::api;

static void ignore(const HttpRequest&, const Responder&) {}

static std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return out;
}

static bool is_safe(std::string_view text) {
  return is_utf8(text) && text.find('\0') == std::string_view::npos && text != "." && text != "..";
}

// Whatever the escapes, a target means the same as one in which everything is escaped.
static void reads_back(const Target& target) {
  std::string path;
  for (const Segment& segment : target.segments) {
    REQUIRE(is_safe(segment.text), segment.text);
    path += "/" + escaped(segment.text);
  }
  std::string query = "?";
  for (const auto& [name, value] : target.query) query += cat(escaped(name), "=", escaped(value), "&");
  const absl::StatusOr<Target> again = parse_target(path + query);
  REQUIRE(again.ok(), fuzz::words(again.status()));
  REQUIRE(again->segments.size() == target.segments.size(), path);
  for (size_t i = 0; i < target.segments.size(); ++i) {
    REQUIRE(again->segments[i].text == target.segments[i].text, path);
  }
  REQUIRE(again->query == target.query, query);
}

static void check_match(const RouteMatch& match) {
  for (const PatternPart& part : match.route->pattern.parts) {
    if (part.kind == PatternPart::Kind::Literal) continue;
    const std::string value(match.parameters.get(part.text));
    REQUIRE(!value.empty() && is_utf8(value), match.route->pattern.text);
    if (part.kind != PatternPart::Kind::Wildcard) continue;
    REQUIRE(cat("/", value, "/").find("/../") == std::string::npos, value);
    REQUIRE(value.front() != '/' && value.back() != '/' && value.find("//") == std::string::npos, value);
  }
}

// The path that a pattern is made for leads to it, or to a route that is more specific.
static void is_found(const Router& router, const Pattern& pattern) {
  std::vector<Segment> path;
  for (const PatternPart& part : pattern.parts) {
    const std::string text = part.kind == PatternPart::Kind::Literal ? part.text : cat("\x7f", part.verb);
    path.push_back({text, text});
  }
  const auto found = router.find("GET", path);
  REQUIRE(std::holds_alternative<RouteMatch>(found), pattern.text);
  check_match(std::get<RouteMatch>(found));
}

FUZZ_TARGET(input) {
  const std::string_view first = input.substr(0, input.find('\n'));
  std::string_view rest = input.substr(std::min(first.size() + 1, input.size()));
  Router router;
  for (const char* usual : {"/jobs/{id}", "/jobs/{id}:cancel", "/jobs/{id}/logs", "/files/{path...}", "/"}) {
    REQUIRE(router.get(usual, ignore).ok(), usual);
  }
  std::vector<Pattern> patterns;
  while (!rest.empty() && patterns.size() < 20) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (!router.get(line, ignore).ok()) continue;
    patterns.push_back(parse_pattern(line).value());
    REQUIRE(absl::IsAlreadyExists(router.get(line, ignore)), line);
  }
  for (const Pattern& pattern : patterns) is_found(router, pattern);
  const absl::StatusOr<Target> target = parse_target(first);
  if (!target.ok() || target->is_whole_server()) return;
  reads_back(*target);
  const auto found = router.find("GET", target->segments);
  if (const auto* match = std::get_if<RouteMatch>(&found)) check_match(*match);
}
