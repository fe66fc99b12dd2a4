#include "src/worker/reports/report_line.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "src/base/clip.h"
#include "src/base/status.h"
#include "src/base/utf8.h"

namespace hodei::worker {
namespace {

// The word up to the next space; `rest` begins behind that space.
std::string_view take_word(std::string_view& rest) {
  const size_t space = std::min(rest.find(' '), rest.size());
  const std::string_view word = rest.substr(0, space);
  rest.remove_prefix(std::min(space + 1, rest.size()));
  return word;
}

std::optional<char> meaning(char after_backslash) {
  switch (after_backslash) {
    case '\\': return '\\';
    case 'n': return '\n';
    case 'r': return '\r';
    default: return std::nullopt;
  }
}

absl::StatusOr<std::string> unescaped(std::string_view what, std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    const std::optional<char> meant = ++i < text.size() ? meaning(text[i]) : std::nullopt;
    if (!meant) return bad_field(what, "a backslash must be followed by \\, n or r; write a literal one as \\\\");
    out += *meant;
  }
  if (!is_utf8(out)) return bad_field(what, "is not UTF-8 text; return binary data as an artifact");
  return out;
}

absl::StatusOr<ReportLine> parse_hello(std::string_view rest) {
  ASSIGN_OR_RETURN(const ExecutionId execution, parse_execution_id(take_word(rest)));
  return HelloLine{execution, std::string(rest)};
}

absl::StatusOr<ReportLine> parse_progress(std::string_view rest) {
  const std::string_view number = take_word(rest);
  double percent = -1;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), percent);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == number.data() + number.size();
  if (!whole || !(percent >= 0 && percent <= 100))
    return bad_field("progress", "'", clip(number, 40), "' is not a number from 0 to 100");
  ASSIGN_OR_RETURN(const std::string message, unescaped("progress", rest));
  // The sender may have cut it already, between two characters, as our command does.
  constexpr size_t kLongestCharacter = 4;
  const bool is_cut = message.size() > kMaxProgressMessage - kLongestCharacter;
  return ProgressLine{percent, std::string(clip(message, kMaxProgressMessage)), is_cut};
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

absl::StatusOr<ReportLine> parse_output(std::string_view rest) {
  const std::string_view key = take_word(rest);
  if (key.empty() || key.size() > kMaxOutputKey || !std::all_of(key.begin(), key.end(), is_plain)) {
    return bad_field("output", "the key '", clip(is_utf8(key) ? key : "?", 40), "' is not 1 to ", kMaxOutputKey,
                     " letters, digits, '_', '-' and '.'");
  }
  ASSIGN_OR_RETURN(std::string value, unescaped("output", rest));
  return OutputLine{std::string(key), std::move(value)};
}

struct LineWriter {
  std::string operator()(const HelloLine& l) const { return cat("hello ", to_string(l.execution), " ", l.key, "\n"); }
  std::string operator()(const ProgressLine& l) const {
    return cat("progress ", l.percent, l.message.empty() ? "" : " ", escape_report_text(l.message), "\n");
  }
  std::string operator()(const OutputLine& l) const {
    return cat("output ", l.key, " ", escape_report_text(l.value), "\n");
  }
};

}  // namespace

absl::StatusOr<ReportLine> parse_report(std::string_view line) {
  std::string_view rest = line;
  const std::string_view verb = take_word(rest);
  if (verb == "hello") return parse_hello(rest);
  if (verb == "progress") return parse_progress(rest);
  if (verb == "output") return parse_output(rest);
  return absl::InvalidArgumentError("a line must start with hello, progress or output");
}

std::string escape_report_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      default: out += c;
    }
  }
  return out;
}

std::string report_line(const ReportLine& report) { return std::visit(LineWriter{}, report); }

}  // namespace hodei::worker
