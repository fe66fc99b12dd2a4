#include "src/api/http/pattern.h"

#include <algorithm>
#include <set>

#include "src/base/status.h"

namespace hodei::api {
namespace {

constexpr std::string_view kEllipsis = "...";

template <class... Parts>
absl::Status bad_pattern(std::string_view pattern, const Parts&... why) {
  return absl::InvalidArgumentError(cat("route '", pattern, "': ", why...));
}

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

// What may stand in a path without an escape, so that a literal is compared as it was written.
bool is_literal_text(std::string_view text) {
  return text != "." && text != ".." && std::all_of(text.begin(), text.end(), [](char c) {
           return is_word(std::string_view(&c, 1)) ||
                  std::string_view(".~:!$&'()*+,;=@").find(c) != std::string_view::npos;
         });
}

absl::StatusOr<PatternPart> parse_part(std::string_view pattern, std::string_view part) {
  using Kind = PatternPart::Kind;
  if (!part.starts_with('{')) {
    if (!is_literal_text(part)) return bad_pattern(pattern, "'", part, "' is not a literal segment");
    return PatternPart{Kind::Literal, std::string(part), ""};
  }
  const size_t end = part.find('}');
  if (end == std::string_view::npos) return bad_pattern(pattern, "'", part, "' has no closing brace");
  std::string_view name = part.substr(1, end - 1);
  const std::string_view verb = part.substr(end + 1);
  const bool is_wildcard = name.ends_with(kEllipsis);
  if (is_wildcard) name.remove_suffix(kEllipsis.size());
  if (!is_word(name)) return bad_pattern(pattern, "'", name, "' is not a name of a parameter");
  if (!verb.empty() && (is_wildcard || !verb.starts_with(':') || !is_word(verb.substr(1)))) {
    return bad_pattern(pattern, "only ':' and a word may follow '{", name, "}', not '", verb, "'");
  }
  return PatternPart{is_wildcard ? Kind::Wildcard : Kind::Parameter, std::string(name), std::string(verb)};
}

}  // namespace

bool PatternPart::is_like(const PatternPart& other) const {
  return kind == other.kind && verb == other.verb && (kind != Kind::Literal || text == other.text);
}

bool Pattern::is_literal() const {
  return std::all_of(parts.begin(), parts.end(),
                     [](const PatternPart& part) { return part.kind == PatternPart::Kind::Literal; });
}

absl::StatusOr<Pattern> parse_pattern(std::string_view text) {
  if (!text.starts_with('/')) return bad_pattern(text, "must begin with '/'");
  Pattern out{std::string(text), {}};
  std::set<std::string> names;
  for (std::string_view rest = text; !rest.empty();) {
    rest.remove_prefix(1);
    const std::string_view raw = rest.substr(0, rest.find('/'));
    rest.remove_prefix(raw.size());
    ASSIGN_OR_RETURN(PatternPart part, parse_part(text, raw));
    if (part.kind == PatternPart::Kind::Wildcard && !rest.empty()) {
      return bad_pattern(text, "nothing may follow '", raw, "'");
    }
    if (part.kind != PatternPart::Kind::Literal && !names.insert(part.text).second) {
      return bad_pattern(text, "two parameters have the name '", part.text, "'");
    }
    out.parts.push_back(std::move(part));
  }
  return out;
}

}  // namespace hodei::api
