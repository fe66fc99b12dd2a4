#include "src/worker/output/secret_forms.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace hodei::worker {
namespace {

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

using Forms = std::set<std::string>;

bool is_one_character(std::string_view text) { return text.find_first_not_of(text[0]) == std::string_view::npos; }

static_assert(kPiece + kShortestMasked <= Automaton::kLongestText);

void add(std::string_view text, Forms& out) {
  while (text.size() >= kShortestMasked) {
    // No piece at the end that is too short to be looked for.
    const size_t length = text.size() < kPiece + kShortestMasked ? text.size() : kPiece;
    out.emplace(text.substr(0, length));
    text.remove_prefix(length);
  }
}

// Without padding. `skip` bytes stood before the value: the characters that depend on them are left out, and unless it
// `ends` there, the one that depends on what follows.
std::string base64(std::string_view value, size_t skip, bool ends) {
  const std::string bytes = std::string(skip, '\0').append(value);
  const size_t bits = bytes.size() * 8;
  std::string out;
  for (size_t bit = 0; bit + (ends ? 1 : 6) <= bits; bit += 6) {
    const auto high = static_cast<uint8_t>(bytes[bit / 8]);
    const auto low = bit / 8 + 1 < bytes.size() ? static_cast<uint8_t>(bytes[bit / 8 + 1]) : uint8_t{0};
    out += kBase64[(high << 8 | low) >> (10 - bit % 8) & 63];
  }
  return out.substr(std::min((skip * 8 + 5) / 6, out.size()));
}

// `between` two bytes stands nothing, or what remains of `0xde, 0xad` and `\u00de\u00ad` where only digits count. What
// stands before the first byte says nothing of the secret, and nearly every text has zeros.
std::string hex(std::string_view value, std::string_view between) {
  std::string out;
  for (const char c : value) {
    if (!out.empty()) out += between;
    out += "0123456789abcdef"[static_cast<uint8_t>(c) >> 4];
    out += "0123456789abcdef"[static_cast<uint8_t>(c) & 15];
  }
  return out;
}

// Encoders do not agree on what may stay as it is.
struct UrlWay {
  std::string_view kept;  // besides letters and digits
  bool form = false;      // a blank is a plus sign
  bool lower_case = false;
};
constexpr UrlWay kUrlWays[] = {
    {.kept = "-_.~"},  // RFC 3986
    {.kept = "-_.~", .lower_case = true},
    {.kept = "-_.~", .form = true},
    {.kept = "-_.~", .form = true, .lower_case = true},
    {.kept = "-_.~/"},               // Python's quote()
    {.kept = "-_.~!*'()"},           // JavaScript's encodeURIComponent()
    {.kept = "-_.*", .form = true},  // browsers that send a form, Java's URLEncoder
};

std::string url_encoded(std::string_view value, const UrlWay& way) {
  const std::string_view digits = way.lower_case ? "0123456789abcdef" : "0123456789ABCDEF";
  std::string out;
  for (const char c : value) {
    const auto byte = static_cast<uint8_t>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       way.kept.find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else if (way.form && c == ' ') {
      out += '+';
    } else {
      out += '%';
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
  return out;
}

void add_escape(uint32_t unit, std::string& out) {
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += "0123456789abcdef"[unit >> shift & 15];
}

// The character that begins at `at`, which moves behind it.
uint32_t next_character(std::string_view text, size_t& at) {
  const auto lead = static_cast<uint8_t>(text[at++]);
  if (lead < 0x80) return lead;
  uint32_t code = lead & (lead < 0xe0 ? 0x1f : lead < 0xf0 ? 0x0f : 0x07);
  while (at < text.size() && (text[at] & 0xc0) == 0x80) code = code << 6 | (text[at++] & 0x3f);
  return code;
}

// Careful: as those write it who fear to be inside a web page. Ascii: as Python does.
enum class Json : uint8_t { Plain, Careful, Ascii };

std::string json_escaped(std::string_view value, Json way) {
  constexpr std::string_view kShort = "\b\f\n\r\t\"\\";
  constexpr std::string_view kLetters = "bfnrt\"\\";
  std::string out;
  for (size_t at = 0; at < value.size();) {
    const size_t begin = at;
    const uint32_t code = next_character(value, at);
    if (const size_t letter = kShort.find(value[begin]); letter != std::string_view::npos) {
      out += '\\';
      out += kLetters[letter];
    } else if (code < 0x20 || (way == Json::Careful && (code == '<' || code == '>'))) {
      add_escape(code, out);
    } else if (way != Json::Ascii || code < 0x80) {
      out += value.substr(begin, at - begin);
    } else if (code < 0x10000) {
      add_escape(code, out);
    } else {
      add_escape(0xd800 + ((code - 0x10000) >> 10 & 0x3ff), out);
      add_escape(0xdc00 + (code & 0x3ff), out);
    }
  }
  return out;
}

void add_lines(std::string_view value, Forms& out) {
  while (!value.empty()) {
    const size_t end = value.find('\n');
    std::string_view line = value.substr(0, end);
    value.remove_prefix(end == std::string_view::npos ? value.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    // A line of dashes or blanks is no secret.
    if (!line.empty() && !is_one_character(line)) add(line, out);
  }
}

void add_exact(std::string_view value, Forms& out) {
  add(value, out);
  if (value.find('\n') != std::string_view::npos) add_lines(value, out);
  for (const UrlWay& way : kUrlWays) add(url_encoded(value, way), out);
  for (const Json way : {Json::Plain, Json::Careful, Json::Ascii}) add(json_escaped(value, way), out);
}

Forms in_base64(std::string_view value) {
  Forms out;
  for (const size_t skip : {0, 1, 2}) {
    for (const bool ends : {false, true}) out.insert(base64(value, skip, ends));
  }
  return out;
}

void add_forms(std::string_view value, Reading reading, Forms& out) {
  switch (reading) {
    case Reading::Exact: return add_exact(value, out);
    case Reading::Hex: return add(hex(value, ""), out);
    case Reading::Base64:
      for (const std::string& form : in_base64(value)) add(form, out);
  }
}

// See kMostRareForms.
void add_rare_forms(std::string_view value, Reading reading, Forms& out) {
  switch (reading) {
    case Reading::Exact: return;
    case Reading::Hex:
      for (const std::string_view between : {"0", "00"}) add(hex(value, between), out);
      return;
    case Reading::Base64:
      // Without the padding of the first encoding: what it becomes in the second says nothing of the secret.
      for (const std::string& once : in_base64(value)) {
        for (const std::string& twice : in_base64(once)) add(twice, out);
      }
  }
}

}  // namespace

std::set<std::string> secret_forms(const std::map<std::string, std::string>& secrets, Reading reading) {
  Forms out;
  size_t room = kMostRareForms;
  for (const auto& [name, value] : secrets) {
    if (value.size() < kShortestMasked) continue;
    add_forms(value, reading, out);
    // What `echo` and editors put behind a value is not part of the secret.
    const size_t end = value.find_last_not_of("\r\n");
    std::string_view bare = value;
    if (end != std::string::npos && end + 1 < value.size() && end + 1 >= kShortestMasked) {
      bare = bare.substr(0, end + 1);
      add_forms(bare, reading, out);
    }
    if (bare.size() <= room) {
      room -= bare.size();
      add_rare_forms(bare, reading, out);
    }
  }
  return out;
}

std::shared_ptr<const Mask> mask_for(const std::map<std::string, std::string>& secrets) {
  std::vector<Automaton> parts;
  for (const Reading reading : {Reading::Exact, Reading::Base64, Reading::Hex}) {
    if (const Forms forms = secret_forms(secrets, reading); !forms.empty()) parts.emplace_back(forms, reading);
  }
  return parts.empty() ? nullptr : std::make_shared<const Mask>(std::move(parts));
}

}  // namespace hodei::worker
