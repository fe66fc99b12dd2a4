// Durations, sizes and ages the way people type and read them: 30s, 1h30m, 10GiB, "3m ago".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "src/base/time.h"

namespace hodei::cli {

// "500ms", "30s", "1h30m", "2d", "1w"; "0" needs no unit. Negative ones are refused.
absl::StatusOr<Duration> parse_duration(std::string_view text);
absl::StatusOr<int64_t> parse_milliseconds(std::string_view text);  // 0, or at least one

// "10Gi", "10GiB", "10G", "512m": letters count in powers of 1024, however they are written. A bare number is bytes,
// wherever a size is asked for.
absl::StatusOr<int64_t> parse_bytes(std::string_view text);

// A size for a field in MiB, rounded up: "512Mi" is 512, "2g" is 2048. What is less than 1 MiB is refused: somebody who
// writes 512 means 512 MiB.
absl::StatusOr<int64_t> parse_megabytes(std::string_view text);

// "0.5", "2", "500m": as thousandths of a core.
absl::StatusOr<int64_t> parse_cores(std::string_view text);

// A whole number in [low, high]; the error says so.
absl::StatusOr<int64_t> parse_count(std::string_view text, int64_t low, int64_t high);

// 1, true, 0, false; empty: nothing was said.
absl::StatusOr<std::optional<bool>> parse_switch(std::string_view text);

// 0.5, 2, 1000: no sign, no unit.
absl::StatusOr<double> parse_number(std::string_view text);

// "5/s", "100/m", "30/h", "1/d"; a bare number is per second: starts a second.
absl::StatusOr<double> parse_rate(std::string_view text);

std::string human_duration(Duration d);     // 340ms, 12.4s, 3m05s, 2h10m, 5d3h
std::string human_bytes(int64_t bytes);     // as messages say it: 512 B, 1.5 KiB
std::string human_rate(double per_second);  // 5/s, 30/h: in the unit that gives a number of 1 or more
std::string exact_cores(int64_t milli);     // 0.25, 2
std::string exact_duration(Duration d);     // reads back as the same value: 1m30s, 250ms

}  // namespace hodei::cli
