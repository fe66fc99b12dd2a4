#include "src/cli/text/quantities.h"

#include <charconv>
#include <optional>

#include "src/base/finite.h"
#include "src/base/sizes.h"
#include "src/base/status.h"

namespace hodei::cli {
namespace {

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kLongestUs = int64_t{10} * 365 * 24 * 3600 * kSecond;  // ten years: beyond it, a typing error

struct Unit {
  std::string_view name;
  int64_t us;
};
constexpr Unit kUnits[] = {{"w", 7 * 24 * 3600 * kSecond},
                           {"d", 24 * 3600 * kSecond},
                           {"h", 3600 * kSecond},
                           {"m", 60 * kSecond},
                           {"s", kSecond},
                           {"ms", 1000},
                           {"us", 1}};
constexpr int64_t kMebi = 1 << 20;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_number_char(char c) { return is_digit(c) || c == '.'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::optional<double> take_number(std::string_view& text) {
  size_t length = 0;
  while (length < text.size() && is_number_char(text[length])) ++length;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + length, value);
  if (length == 0 || error != std::errc() || end != text.data() + length) return std::nullopt;
  text.remove_prefix(length);
  return value;
}

std::string_view take_letters(std::string_view& text) {
  size_t length = 0;
  while (length < text.size() && is_letter(text[length])) ++length;
  const std::string_view out = text.substr(0, length);
  text.remove_prefix(length);
  return out;
}

absl::Status bad_duration(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(cat("'", text, "' ", why, "; write 500ms, 30s, 5m, 1h30m, 2d or 1w"));
}

}  // namespace

absl::StatusOr<int64_t> parse_cores(std::string_view text) {
  std::string_view rest = text;
  const auto bad = [&](std::string_view why) {
    return absl::InvalidArgumentError(cat("'", text, "' ", why, "; write 0.5, 500m or 2"));
  };
  const std::optional<double> number = take_number(rest);
  if (!number || !(rest.empty() || rest == "m")) return bad("is not a number of cores");
  const double milli = *number * (rest == "m" ? 1 : 1000);
  if (!is_within(milli, 0, static_cast<double>(kMostCores) * 1000)) return bad("is not a number of cores");
  if (milli > 0 && milli < 1) return bad("is less than 1m, a thousandth of a core");
  return static_cast<int64_t>(milli + 0.5);
}

absl::StatusOr<Duration> parse_duration(std::string_view text) {
  if (text == "0") return Duration(0);
  if (!text.empty() && text[0] == '-') return bad_duration(text, "is negative");
  if (text.empty()) return bad_duration(text, "is not a duration");
  double total = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::optional<double> value = take_number(rest);
    if (!value) return bad_duration(text, "is not a duration");
    const std::string_view name = take_letters(rest);
    if (name.empty()) return bad_duration(text, "has no unit");
    const Unit* unit =
        std::find_if(std::begin(kUnits), std::end(kUnits), [&](const Unit& u) { return u.name == name; });
    if (unit == std::end(kUnits)) return bad_duration(text, cat("has the unknown unit '", name, "'"));
    total += *value * static_cast<double>(unit->us);
  }
  if (!is_within(total, 0, static_cast<double>(kLongestUs))) return bad_duration(text, "is longer than ten years");
  return Duration(static_cast<int64_t>(total + 0.5));
}

absl::StatusOr<int64_t> parse_milliseconds(std::string_view text) {
  ASSIGN_OR_RETURN(const Duration duration, parse_duration(text));
  // It would become 0, which often means that there is no limit.
  if (duration > Duration(0) && duration < Duration(1000)) return bad_duration(text, "is less than 1ms");
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

absl::StatusOr<int64_t> parse_bytes(std::string_view text) {
  std::string_view rest = text;
  const auto bad = [&] {
    return absl::InvalidArgumentError(cat("'", text, "' is not a size; write 512Mi, 2Gi, 10G or, in bytes, 1048576"));
  };
  const std::optional<double> value = take_number(rest);
  std::string_view unit = take_letters(rest);
  if (!value || !rest.empty()) return bad();
  int shift = 0;
  if (!unit.empty() && unit != "B" && unit != "b") {
    constexpr std::string_view kLetters = "kmgtp";
    const size_t at = kLetters.find(static_cast<char>(unit[0] | 0x20));
    const std::string_view tail = unit.substr(1);
    if (at == std::string_view::npos || !(tail.empty() || tail == "i" || tail == "iB" || tail == "B" || tail == "b")) {
      return bad();
    }
    shift = 10 * (static_cast<int>(at) + 1);
  }
  const double bytes = *value * static_cast<double>(int64_t{1} << shift);
  if (!is_within(bytes, 0, 9e18)) return bad();
  return static_cast<int64_t>(bytes);
}

absl::StatusOr<int64_t> parse_megabytes(std::string_view text) {
  ASSIGN_OR_RETURN(const int64_t bytes, parse_bytes(text));
  if (bytes > 0 && bytes < kMebi) {
    return absl::InvalidArgumentError(
        cat("'", text, "' is ", bytes, bytes == 1 ? " byte" : " bytes", ", less than 1Mi; write ",
            is_digit(text.back()) ? cat(text, "Mi for ", text, " MiB") : std::string("512Mi or 2Gi")));
  }
  return (bytes + kMebi - 1) / kMebi;
}

absl::StatusOr<int64_t> parse_count(std::string_view text, int64_t low, int64_t high) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    return absl::InvalidArgumentError(cat("'", text, "' is not a whole number from ", low, " to ", high));
  }
  return value;
}

absl::StatusOr<double> parse_number(std::string_view text) {
  std::string_view rest = text;
  const std::optional<double> value = take_number(rest);
  if (!value || !rest.empty()) return absl::InvalidArgumentError(cat("'", text, "' is not a number; write 0.5 or 2"));
  return *value;
}

absl::StatusOr<double> parse_rate(std::string_view text) {
  std::string_view rest = text;
  const auto bad = [&] {
    return absl::InvalidArgumentError(cat("'", text, "' is not a rate; write 5/s, 100/m, 30/h or 1/d, and 0 for none"));
  };
  const std::optional<double> count = take_number(rest);
  if (!count) return bad();
  if (rest.empty()) return *count;
  if (rest.substr(0, 1) != "/") return bad();
  const auto unit =
      std::find_if(std::begin(kUnits), std::end(kUnits), [&](const Unit& u) { return u.name == rest.substr(1); });
  if (unit == std::end(kUnits) || unit->us < kSecond) return bad();
  return *count * static_cast<double>(kSecond) / static_cast<double>(unit->us);
}

std::string human_duration(Duration d) {
  const int64_t us = std::max<int64_t>(d.count(), 0);
  const int64_t s = us / kSecond;
  if (us < kSecond) return cat(us / 1000, "ms");
  if (s < 60) return fmt::format("{}.{}s", s, us % kSecond / 100'000);
  if (s < 3600) return fmt::format("{}m{:02}s", s / 60, s % 60);
  if (s < 24 * 3600) return fmt::format("{}h{:02}m", s / 3600, s % 3600 / 60);
  return fmt::format("{}d{}h", s / 86400, s % 86400 / 3600);
}

absl::StatusOr<std::optional<bool>> parse_switch(std::string_view text) {
  if (text.empty()) return std::optional<bool>();
  if (text == "1" || text == "true") return std::optional<bool>(true);
  if (text == "0" || text == "false") return std::optional<bool>(false);
  return absl::InvalidArgumentError(cat("'", text, "' is not one of 1, 0, true, false"));
}

std::string human_bytes(int64_t bytes) { return size_text(bytes); }

std::string human_rate(double per_second) {
  for (const std::string_view name : {"s", "m", "h", "d"}) {
    const auto unit = std::find_if(std::begin(kUnits), std::end(kUnits), [&](const Unit& u) { return u.name == name; });
    const double rate = per_second * static_cast<double>(unit->us) / static_cast<double>(kSecond);
    if (rate >= 1 || name == "d") return fmt::format("{:.4g}/{}", rate, name);
  }
  return {};
}

std::string exact_cores(int64_t milli) {
  return milli % 1000 == 0 ? cat(milli / 1000) : fmt::format("{}", static_cast<double>(milli) / 1000);
}

std::string exact_duration(Duration d) {
  if (d.count() == 0) return "0";
  std::string out;
  int64_t left = d.count();
  for (const Unit& unit : kUnits) {
    if (left < unit.us || unit.name == "w") continue;  // 14d reads better than 2w
    out += cat(left / unit.us, unit.name);
    left %= unit.us;
  }
  return out;
}

}  // namespace hodei::cli
