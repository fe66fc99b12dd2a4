#include "src/base/http/percent.h"

#include <optional>

#include "src/base/text.h"
#include "src/base/utf8.h"

namespace hodei::http {
namespace {

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

}  // namespace

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_unreserved(c)) {
      out.push_back(c);
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

absl::StatusOr<std::string> percent_decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    const std::optional<int> high = i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
    const std::optional<int> low = i + 2 < text.size() ? hex_digit(text[i + 2]) : std::nullopt;
    if (!high || !low) {
      return absl::InvalidArgumentError("the URL contains a '%' without two hexadecimal digits; write '%' as '%25'");
    }
    out.push_back(static_cast<char>(*high * 16 + *low));
    i += 2;
  }
  if (out.find('\0') != std::string::npos) return absl::InvalidArgumentError("the URL contains a NUL character");
  if (!is_utf8(out)) return absl::InvalidArgumentError("the URL is not UTF-8");
  return out;
}

}  // namespace hodei::http
