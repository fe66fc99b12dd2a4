// Short forms for code that returns absl::Status.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/base/text.h"

#define HODEI_CONCAT_INNER(a, b) a##b
#define HODEI_CONCAT(a, b) HODEI_CONCAT_INNER(a, b)

#define RETURN_IF_ERROR(expr)                                         \
  do {                                                                \
    if (absl::Status status_ = (expr); !status_.ok()) return status_; \
  } while (false)

#define ASSIGN_OR_RETURN(lhs, expr) ASSIGN_OR_RETURN_INNER(HODEI_CONCAT(result_, __LINE__), lhs, expr)
#define ASSIGN_OR_RETURN_INNER(result, lhs, expr) \
  auto result = (expr);                           \
  if (!result.ok()) return result.status();       \
  lhs = std::move(*result)

namespace hodei {

// A bad value in a request: names the field and says what would be right.
template <class... Parts>
absl::Status bad_field(std::string_view field, const Parts&... what) {
  return absl::InvalidArgumentError(cat(field, ": ", what...));
}

// A broken invariant of the whole process: says so and aborts.
[[noreturn]] void abort_loudly(std::string_view what, const char* file, int line);

}  // namespace hodei

#define HODEI_CHECK(condition)                                               \
  do {                                                                       \
    if (!(condition)) ::hodei::abort_loudly(#condition, __FILE__, __LINE__); \
  } while (false)
