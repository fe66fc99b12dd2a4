#include "src/base/trace.h"

#include "src/base/text.h"

namespace hodei {
namespace {

// 00-<32 digits>-<16 digits>-<2 digits>
constexpr size_t kTraceAt = 3, kSpanAt = 36, kFlagsAt = 53, kLength = 55;
// Field 22 of JobSpec, a text: `traceparent`.
constexpr uint64_t kTraceparentTag = 22 << 3 | 2;

// Lower-case digits only, as the standard wants them.
std::optional<uint64_t> parse_hex(std::string_view digits) {
  uint64_t value = 0;
  for (const char c : digits) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && (c < 'a' || c > 'f')) return std::nullopt;
    value = value << 4 | static_cast<uint64_t>(is_digit ? c - '0' : c - 'a' + 10);
  }
  return value;
}

std::optional<uint64_t> take_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// How many bytes a field has behind its tag; nothing: the bytes make no sense.
std::optional<size_t> field_length(uint64_t wire_type, std::string_view& bytes) {
  switch (wire_type) {
    case 0: return take_varint(bytes) ? std::optional<size_t>(0) : std::nullopt;
    case 1: return 8;
    case 2: return take_varint(bytes);
    case 5: return 4;
    default: return std::nullopt;
  }
}

uint64_t never_zero(uint64_t id) { return id == 0 ? 1 : id; }

Hash128 own_trace(JobId job) {
  std::string digits;
  for (const char c : public_id(job)) {
    if (c != '-') digits.push_back(c);
  }
  return {parse_hex(std::string_view(digits).substr(0, 16)).value_or(1),
          parse_hex(std::string_view(digits).substr(16)).value_or(1)};
}

}  // namespace

std::optional<TraceContext> parse_traceparent(std::string_view text) {
  if (text.size() < kLength || text[2] != '-' || text[kSpanAt - 1] != '-' || text[kFlagsAt - 1] != '-')
    return std::nullopt;
  const auto version = parse_hex(text.substr(0, 2));
  const auto high = parse_hex(text.substr(kTraceAt, 16));
  const auto low = parse_hex(text.substr(kTraceAt + 16, 16));
  const auto span = parse_hex(text.substr(kSpanAt, 16));
  const auto flags = parse_hex(text.substr(kFlagsAt, 2));
  if (!version || !high || !low || !span || !flags || *version == 0xff) return std::nullopt;
  // Later versions may have more behind it.
  if (text.size() > kLength && (*version == 0 || text[kLength] != '-')) return std::nullopt;
  if ((*high == 0 && *low == 0) || *span == 0) return std::nullopt;
  return TraceContext{{*high, *low}, *span, (*flags & 1) != 0};
}

std::string_view traceparent_in(std::string_view bytes) {
  std::string_view found;
  while (!bytes.empty()) {
    const std::optional<uint64_t> tag = take_varint(bytes);
    if (!tag) break;
    const std::optional<size_t> length = field_length(*tag & 7, bytes);
    if (!length || *length > bytes.size()) break;
    if (*tag == kTraceparentTag) found = bytes.substr(0, *length);  // the last one counts
    bytes.remove_prefix(*length);
  }
  return found;
}

void add_traceparent(std::string_view traceparent, std::string& spec_bytes) {
  if (traceparent.size() != kLength) return;
  spec_bytes.push_back(static_cast<char>((kTraceparentTag & 0x7f) | 0x80));
  spec_bytes.push_back(static_cast<char>(kTraceparentTag >> 7));
  spec_bytes.push_back(static_cast<char>(kLength));
  spec_bytes.append(traceparent);
}

TraceContext trace_of(JobId job, std::string_view spec_bytes) {
  if (const auto given = parse_traceparent(traceparent_in(spec_bytes))) return *given;
  return {own_trace(job), 0, true};
}

uint64_t span_of(JobId job) { return never_zero(mix64(number(job))); }
uint64_t span_of(ExecutionId execution) { return span_of(span_of(execution.job), cat("execution ", execution.number)); }
uint64_t span_of(uint64_t parent, std::string_view phase) { return never_zero(hash64(phase, parent)); }

std::string trace_text(const Hash128& trace) { return fmt::format("{:016x}{:016x}", trace.high, trace.low); }
std::string span_text(uint64_t span) { return fmt::format("{:016x}", span); }

std::string traceparent_for(ExecutionId execution, std::string_view spec_bytes) {
  const TraceContext trace = trace_of(execution.job, spec_bytes);
  return fmt::format("00-{:016x}{:016x}-{:016x}-0{}", trace.trace.high, trace.trace.low, span_of(execution),
                     trace.sampled ? 1 : 0);
}

}  // namespace hodei
