#include "src/core/jobs/template.h"

#include <algorithm>

#include "src/base/clip.h"
#include "src/base/status.h"

namespace hodei::core {
namespace {

constexpr size_t kMaxParameters = 100;
constexpr size_t kMaxValue = 64 * 1024;

bool is_identifier(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (text.empty() || !letter(text[0])) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

std::string names_of(const std::vector<Parameter>& declared) {
  std::string out;
  for (const Parameter& p : declared) out += cat(out.empty() ? "" : ", ", p.name);
  return out.empty() ? "none" : out;
}

}  // namespace

absl::Status check_parameters(const std::vector<Parameter>& declared) {
  if (declared.size() > kMaxParameters) return bad_field("parameters", "at most ", kMaxParameters, " parameters");
  Values seen;
  for (const Parameter& p : declared) {
    if (!is_identifier(p.name)) {
      return bad_field("parameters", "'", p.name,
                       "' is not a valid name; use letters, digits and '_', not starting with a digit");
    }
    if (!seen.emplace(p.name, "").second) return bad_field("parameters", "'", p.name, "' is declared twice");
  }
  return absl::OkStatus();
}

absl::StatusOr<Values> bind(const std::vector<Parameter>& declared, const Values& given) {
  for (const auto& [name, value] : given) {
    const bool known =
        std::any_of(declared.begin(), declared.end(), [&name = name](const Parameter& p) { return p.name == name; });
    if (!known)
      return bad_field("parameters", "the template has no parameter '", name, "'; it has: ", names_of(declared));
    if (value.size() > kMaxValue) return bad_field(cat("parameters.", name), "is longer than ", kMaxValue, " bytes");
  }
  Values out;
  for (const Parameter& p : declared) {
    const auto it = given.find(p.name);
    if (it == given.end() && !p.default_value) {
      return bad_field("parameters", "'", p.name, "' has no default and is required: --param ", p.name, "=...");
    }
    out[p.name] = it != given.end() ? it->second : *p.default_value;
  }
  return out;
}

absl::StatusOr<std::string> substitute(std::string_view text, const Values& values, size_t most) {
  std::string out;
  // Asked before anything is added: a short text can name a long value many times.
  const auto fits = [&](size_t more) { return out.size() + more <= most; };
  const auto too_long = [] {
    return bad_field("spec", "is longer than ", kMaxRendered, " bytes after its parameters are filled in");
  };
  while (true) {
    const size_t at = text.find("${");
    if (at == std::string_view::npos) break;
    if (at > 0 && text[at - 1] == '$') {
      out.append(text.substr(0, at - 1)).append("${");
      text.remove_prefix(at + 2);
      continue;
    }
    const size_t end = text.find('}', at);
    const std::string_view name = text.substr(at + 2, end == std::string_view::npos ? end : end - at - 2);
    const auto it = values.find(std::string(name));
    if (end == std::string_view::npos || it == values.end()) {
      return bad_field("spec", "'${", clip(name, 60), "' is not a declared parameter; write $${ for a literal ${");
    }
    if (!fits(at + it->second.size())) return too_long();
    out.append(text.substr(0, at)).append(it->second);
    text.remove_prefix(end + 1);
  }
  if (!fits(text.size())) return too_long();
  out.append(text);
  return out;
}

}  // namespace hodei::core
