#include "src/base/ids.h"

#include <algorithm>
#include <atomic>

#include "src/base/hash.h"
#include "src/base/status.h"

namespace hodei {
namespace {

// No i, l, o, u: nothing that is misread.
constexpr std::string_view kDigits = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr uint64_t kSixtyBits = (uint64_t{1} << 60) - 1;
constexpr size_t kLongestShortId = 14;
constexpr size_t kLongestName = 100;

// 0: the installation is not known. Set once, before any id is made; read by every thread.
std::atomic<uint64_t> installation_salt{0};

uint64_t check_bits(uint64_t number, uint64_t salt) { return mix64(number ^ 0x486f646569ull ^ salt) & kSixtyBits; }

// Ids that were given out before they differed between installations still count.
bool is_ours(uint64_t number, uint64_t checked) {
  const uint64_t salt = installation_salt.load(std::memory_order_relaxed);
  return salt == 0 || checked == check_bits(number, salt) || checked == check_bits(number, 0);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

absl::Status not_a_job_id(std::string_view text) {
  return absl::InvalidArgumentError(cat("job_id: '", text.substr(0, 60),
                                        "' is not a job id; give a short id such as j1f3k or a full one as "
                                        "printed by `hodei job list -o wide`"));
}

absl::StatusOr<JobId> parse_short(std::string_view text) {
  uint64_t value = 0;
  if (text.size() < 2 || text.size() > kLongestShortId) return not_a_job_id(text);
  for (char c : text.substr(1)) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos || value > (kSixtyBits >> 5)) return not_a_job_id(text);
    value = value << 5 | digit;
  }
  if (value == 0) return not_a_job_id(text);
  return JobId{value};
}

absl::StatusOr<JobId> parse_uuid(std::string_view text) {
  uint64_t half[2] = {0, 0};
  int digits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash != (text[i] == '-')) return not_a_job_id(text);
    if (dash) continue;
    const int digit = hex_digit(text[i]);
    if (digit < 0) return not_a_job_id(text);
    // Digits 12 and 16 are the fixed version and variant.
    if (digits == 12 || digits == 16) {
      if (digit != 8) return not_a_job_id(text);
    } else {
      uint64_t& part = half[digits > 16];
      part = part << 4 | static_cast<uint64_t>(digit);
    }
    ++digits;
  }
  const uint64_t value = half[1];
  if (value == 0) return not_a_job_id(text);
  if (!is_ours(value, half[0])) {
    return absl::InvalidArgumentError(
        cat("job_id: '", text, "' is not a job of this installation; it is mistyped, or belongs to another server"));
  }
  return JobId{value};
}

}  // namespace

void set_installation(std::string_view id) { installation_salt = id.empty() ? 0 : std::max<uint64_t>(hash64(id), 1); }

std::string short_id(JobId id) {
  char buffer[kLongestShortId];
  size_t at = sizeof buffer;
  uint64_t value = number(id);
  do {
    buffer[--at] = kDigits[value & 31];
    value >>= 5;
  } while (value != 0);
  buffer[--at] = 'j';
  return std::string(buffer + at, sizeof buffer - at);
}

std::string public_id(JobId id) {
  const uint64_t low = number(id) & kSixtyBits;
  const uint64_t high = check_bits(low, installation_salt.load(std::memory_order_relaxed));
  // 15 hex digits of check bits and 15 of the number, around the fixed version and variant digits.
  std::string out = "........-....-8...-8...-............";
  const auto put = [&out](size_t first, int digits, uint64_t value) {
    for (int i = digits; i-- > 0; value >>= 4) out[first + static_cast<size_t>(i)] = "0123456789abcdef"[value & 15];
  };
  put(0, 8, high >> 28);
  put(9, 4, high >> 12);
  put(15, 3, high);
  put(20, 3, low >> 48);
  put(24, 12, low);
  return out;
}

std::string to_string(ExecutionId id) { return cat(short_id(id.job), ".", id.number); }

absl::StatusOr<JobId> parse_job_id(std::string_view text) {
  if (text.size() == 36) return parse_uuid(text);
  if (!text.empty() && text[0] == 'j') return parse_short(text);
  return not_a_job_id(text);
}

absl::StatusOr<ExecutionId> parse_execution_id(std::string_view text) {
  const auto bad = [&] {
    return absl::InvalidArgumentError(
        cat("execution_id: '", text.substr(0, 60), "' is not an execution id; it looks like j1f3k.1"));
  };
  const size_t dot = text.rfind('.');
  if (dot == std::string_view::npos || text.size() - dot > 10 || dot + 1 == text.size()) return bad();
  const absl::StatusOr<JobId> job = parse_job_id(text.substr(0, dot));
  if (!job.ok()) return bad();
  uint64_t value = 0;
  for (char c : text.substr(dot + 1)) {
    if (c < '0' || c > '9') return bad();
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  if (value == 0 || value > UINT32_MAX) return bad();
  return ExecutionId{*job, static_cast<uint32_t>(value)};
}

absl::Status check_name(std::string_view field, std::string_view text) {
  const auto alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  if (text.empty()) return bad_field(field, "must not be empty");
  if (text.size() > kLongestName) return bad_field(field, "is longer than ", kLongestName, " characters");
  bool good = alnum(text[0]);
  for (char c : text) good = good && (alnum(c) || c == '.' || c == '_' || c == '-');
  if (!good) {
    return bad_field(field, "may contain letters, digits, '.', '_' and '-', and must start with a letter or digit");
  }
  return absl::OkStatus();
}

}  // namespace hodei
