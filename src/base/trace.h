// Trace contexts in the form of W3C. A job's trace is the one of its caller, or begins with the job; in both cases all
// of its ids follow from the job's number and its spec, so nothing has to be stored or handed on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/hash.h"
#include "src/base/ids.h"

namespace hodei {

struct TraceContext {
  Hash128 trace;
  uint64_t span = 0;  // the caller's; 0: none
  bool sampled = true;

  bool operator==(const TraceContext&) const = default;
};

// Nothing: not a trace context.
std::optional<TraceContext> parse_traceparent(std::string_view text);

// The `traceparent` in the bytes of a serialized JobSpec, found without unpacking the rest; empty: it has none.
std::string_view traceparent_in(std::string_view spec_bytes);
// The bytes of a spec that has none, with this one.
void add_traceparent(std::string_view traceparent, std::string& spec_bytes);

// Of a job; `spec_bytes` may name its caller's.
TraceContext trace_of(JobId job, std::string_view spec_bytes);

// Spans of a job, the same wherever they are asked for.
uint64_t span_of(JobId job);
uint64_t span_of(ExecutionId execution);
uint64_t span_of(uint64_t parent, std::string_view phase);

std::string trace_text(const Hash128& trace);  // 32 hexadecimal digits
std::string span_text(uint64_t span);          // 16
// What is given to the process of an execution.
std::string traceparent_for(ExecutionId execution, std::string_view spec_bytes);

}  // namespace hodei
