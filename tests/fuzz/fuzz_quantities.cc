// Durations, sizes and counts as people type them.
#include "src/cli/text/quantities.h"
#include "tests/fuzz/fuzz.h"

using namespace hodei;

FUZZ_TARGET(input) {
  if (const absl::StatusOr<Duration> d = cli::parse_duration(input); d.ok()) {
    REQUIRE(d->count() >= 0, d->count());
    const absl::StatusOr<Duration> again = cli::parse_duration(cli::exact_duration(*d));
    REQUIRE(again.ok() && *again == *d, cli::exact_duration(*d));
    cli::human_duration(*d);
  } else {
    REQUIRE(d.status().message().find("write") != absl::string_view::npos, fuzz::words(d.status()));
  }
  if (const absl::StatusOr<int64_t> n = cli::parse_bytes(input); n.ok()) {
    REQUIRE(*n >= 0, *n);
    REQUIRE(*cli::parse_bytes(cat(*n)) / 1024 == *n / 1024 || *n > int64_t{1} << 53, *n);
    cli::human_bytes(*n);
  }
  if (const absl::StatusOr<int64_t> n = cli::parse_megabytes(input); n.ok()) REQUIRE(*n >= 0, *n);
  if (const absl::StatusOr<int64_t> n = cli::parse_count(input, -5, 70'000); n.ok()) {
    REQUIRE(*n >= -5 && *n <= 70'000, *n);
    REQUIRE(*cli::parse_count(cat(*n), -5, 70'000) == *n, *n);
  }
}
