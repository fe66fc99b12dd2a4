#include "src/cli/text/label_rules.h"

#include "hodei/v1/job.pb.h"
#include "src/base/clip.h"
#include "src/base/label_limits.h"
#include "src/base/status.h"
#include "src/cli/text/quantities.h"
#include "src/cli/text/suggestion.h"

namespace hodei::cli {
namespace {

using hodei::v1::LabelRule;

constexpr std::string_view kSpace = " \t\r\n";

absl::Status bad_rule(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(cat("constraint '", text, "': ", why,
                                        "; write `zone In (a,b)`, `zone NotIn (a)`, `gpu Exists`, `gpu DoesNotExist`, "
                                        "`cores Gt 4` or `cores Lt 8`"));
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (int i = LabelRule::In; i <= LabelRule::Lt; ++i) names.push_back(LabelRule::Operator_Name(i));
  return names;
}

LabelRule make_rule(std::string_view key, LabelRule::Operator op, const std::vector<std::string>& values) {
  LabelRule rule;
  rule.set_key(std::string(key));
  rule.set_operator_(op);
  for (const std::string& value : values) rule.add_values(value);
  return rule;
}

absl::Status check_lengths(const LabelRule& rule, std::string_view text) {
  const std::string_view shown = clip(text, 80);
  if (rule.key().size() > kMaxLabelKey)
    return bad_rule(shown, cat("the label's name has more than ", kMaxLabelKey, " characters"));
  if (static_cast<size_t>(rule.values_size()) > kMaxRuleValues)
    return bad_rule(shown, cat("has more than ", kMaxRuleValues, " values"));
  for (const std::string& value : rule.values()) {
    if (value.size() > kMaxLabelValue)
      return bad_rule(shown, cat("a value has more than ", kMaxLabelValue, " characters"));
  }
  return absl::OkStatus();
}

absl::Status check_values(const LabelRule& rule, std::string_view text) {
  const int count = rule.values_size();
  switch (rule.operator_()) {
    case LabelRule::In:
    case LabelRule::NotIn: return count > 0 ? absl::OkStatus() : bad_rule(text, "names no values");
    case LabelRule::Gt:
    case LabelRule::Lt: {
      const bool number = count == 1 && parse_count(rule.values(0), INT64_MIN, INT64_MAX).ok();
      return number ? absl::OkStatus() : bad_rule(text, "Gt and Lt take one whole number");
    }
    default: return count == 0 ? absl::OkStatus() : bad_rule(text, "Exists and DoesNotExist take no values");
  }
}

bool is_one_word(std::string_view text) { return trimmed(text).find_first_of(kSpace) == std::string::npos; }

// `key=v`, `key!=v`, `key>n`, `key<n`, `!key`, `key`, with or without spaces around the sign.
absl::StatusOr<LabelRule> parse_short_form(std::string_view text) {
  if (text[0] == '!') return make_rule(trimmed(text.substr(1)), LabelRule::DoesNotExist, {});
  const size_t at = text.find_first_of("=!<>");
  if (at == std::string_view::npos) return make_rule(text, LabelRule::Exists, {});
  const std::string key = trimmed(text.substr(0, at));
  std::string value = trimmed(text.substr(at + 1));
  const bool negated = text[at] == '!';
  if (text[at] == '>') return make_rule(key, LabelRule::Gt, {value});
  if (text[at] == '<') return make_rule(key, LabelRule::Lt, {value});
  if (negated && (value.empty() || value[0] != '=')) return bad_rule(text, "'!' is not followed by '='");
  if (!value.empty() && value[0] == '=') value = trimmed(std::string_view(value).substr(1));
  return make_rule(key, negated ? LabelRule::NotIn : LabelRule::In, {value});
}

absl::StatusOr<LabelRule> parse_long_form(std::string_view text, size_t key_end) {
  const std::string rest = trimmed(text.substr(key_end));
  const std::string word = rest.substr(0, rest.find_first_of(" \t("));
  std::string values = trimmed(std::string_view(rest).substr(word.size()));
  LabelRule::Operator op = LabelRule::OPERATOR_UNSPECIFIED;
  for (int i = LabelRule::In; i <= LabelRule::Lt; ++i) {
    const auto candidate = static_cast<LabelRule::Operator>(i);
    if (same_word(word, LabelRule::Operator_Name(candidate))) op = candidate;
  }
  if (op == LabelRule::OPERATOR_UNSPECIFIED) {
    return bad_rule(text, cat("'", word, "' is not an operator", did_you_mean(word, operator_names())));
  }
  if (!values.empty() && values.front() == '(') {
    if (values.back() != ')') return bad_rule(text, "the '(' is not closed");
    values = values.substr(1, values.size() - 2);
  }
  return make_rule(text.substr(0, key_end), op, split_list(values));
}

}  // namespace

absl::StatusOr<LabelRule> parse_label_rule(std::string_view raw) {
  const std::string text = trimmed(raw);
  if (text.empty()) return bad_rule(text, "is empty");
  const size_t space = text.find_first_of(" \t(");
  const size_t sign = text.find_first_of("=<>");
  // `a=b c` and `a = b` are of the short form, `a In (b=c)` of the long one.
  const bool has_sign = sign != std::string::npos && text.find('(') > sign && is_one_word(text.substr(0, sign));
  absl::StatusOr<LabelRule> rule =
      space == std::string::npos || text[0] == '!' || has_sign ? parse_short_form(text) : parse_long_form(text, space);
  if (!rule.ok()) return rule;
  if (rule->key().empty()) return bad_rule(text, "has no label name");
  // `!team=x` would be the absence of a label that nobody has, and so choose everything.
  if (rule->key().find_first_of("=!<>() \t") != std::string::npos)
    return bad_rule(text, cat("'", rule->key(), "' is not a label name"));
  RETURN_IF_ERROR(check_lengths(*rule, text));
  RETURN_IF_ERROR(check_values(*rule, text));
  return rule;
}

absl::StatusOr<std::vector<LabelRule>> parse_selector(std::string_view flag, std::string_view text) {
  std::vector<LabelRule> out;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    absl::StatusOr<LabelRule> rule = parse_label_rule(text.substr(begin, i - begin));
    if (!rule.ok()) {
      return bad_field(
          flag, "'", clip(trimmed(text.substr(begin, i - begin)), 80),
          "' is not a label selector; write a=b, a!=b, 'a in (x,y)', 'a notin (x,y)', a or '!a', with commas "
          "between them");
    }
    out.push_back(*std::move(rule));
    begin = i + 1;
  }
  return out;
}

absl::StatusOr<KeyValue> parse_key_value(std::string_view what, std::string_view text) {
  const size_t at = text.find('=');
  if (at == std::string_view::npos || at == 0) {
    return absl::InvalidArgumentError(cat(what, ": '", text, "' is not of the form key=value"));
  }
  return KeyValue{std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
}

absl::StatusOr<std::map<std::string, std::string>> parse_key_values(std::string_view what,
                                                                    const std::vector<std::string>& texts) {
  std::map<std::string, std::string> out;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(KeyValue pair, parse_key_value(what, text));
    out[pair.key] = pair.value;
  }
  return out;
}

std::string trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kSpace) - first + 1));
}

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t at = std::min(text.find(separator), text.size());
    if (std::string part = trimmed(text.substr(0, at)); !part.empty()) out.push_back(std::move(part));
    text.remove_prefix(std::min(at + 1, text.size()));
  }
  return out;
}

}  // namespace hodei::cli
