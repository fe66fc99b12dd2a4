#include "src/worker/secret_forms.h"

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

std::string hex(std::string_view value) {
  std::string out;
  for (const char c : value) {
    out += "0123456789abcdef"[static_cast<uint8_t>(c) >> 4];
    out += "0123456789abcdef"[static_cast<uint8_t>(c) & 15];
  }
  return out;
}

std::string url_encoded(std::string_view value, bool lower_case, bool form) {
  const std::string_view digits = lower_case ? "0123456789abcdef" : "0123456789ABCDEF";
  std::string out;
  for (const char c : value) {
    const auto byte = static_cast<uint8_t>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-_.~").find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else if (form && c == ' ') {
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
  for (const bool lower_case : {false, true}) {
    for (const bool form : {false, true}) add(url_encoded(value, lower_case, form), out);
  }
  for (const Json way : {Json::Plain, Json::Careful, Json::Ascii}) add(json_escaped(value, way), out);
}

void add_forms(std::string_view value, Reading reading, Forms& out) {
  switch (reading) {
    case Reading::Exact: return add_exact(value, out);
    case Reading::Hex: return add(hex(value), out);
    case Reading::Base64:
      for (const size_t skip : {0, 1, 2}) {
        for (const bool ends : {false, true}) add(base64(value, skip, ends), out);
      }
  }
}

}  // namespace

std::set<std::string> secret_forms(const std::map<std::string, std::string>& secrets, Reading reading) {
  Forms out;
  for (const auto& [name, value] : secrets) {
    if (value.size() < kShortestMasked) continue;
    add_forms(value, reading, out);
    // What `echo` and editors put behind a value is not part of the secret.
    const size_t end = value.find_last_not_of("\r\n");
    if (end != std::string::npos && end + 1 < value.size() && end + 1 >= kShortestMasked) {
      add_forms(std::string_view(value).substr(0, end + 1), reading, out);
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
