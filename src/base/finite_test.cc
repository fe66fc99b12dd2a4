#include "src/base/finite.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "src/base/odd_numbers.h"

namespace hodei::finite_test {
namespace {

TEST(Finite, WhatIsNoAmountIsRefusedByName) {
  for (const double odd : no_amounts()) {
    EXPECT_FALSE(is_within(odd, 0, 1e6)) << odd;
    const absl::Status status = check_within("weight", odd, 0, 1e6, " (0: none)");
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << odd;
    EXPECT_TRUE(status.message().find("weight: must be a number from 0 to 1000000 (0: none), not ") == 0) << status;
  }
  for (const double tiny : tiny_amounts()) EXPECT_TRUE(check_within("weight", tiny, 0, 1e6).ok()) << tiny;
}

TEST(Finite, BoundsWhatWasMeasured) {
  for (const double odd : no_amounts()) {
    const double used = bounded(odd, 0, 1, 0.5);
    EXPECT_TRUE(used >= 0 && used <= 1) << odd;
    EXPECT_EQ(used == 0.5, std::isnan(odd)) << odd;
  }
  EXPECT_FALSE(std::signbit(bounded(-0.0, 0, 1, 0)));
  EXPECT_FALSE(std::signbit(bounded(-0.0, -1, 1, 0)));
  EXPECT_EQ(bounded(std::numeric_limits<double>::infinity(), 0, 7, 0), 7);
}

TEST(Finite, WholeNumbersStayInsideTheirLimits) {
  for (const double odd : no_amounts()) {
    const int64_t whole = bounded_whole(odd, -5, INT64_MAX);
    EXPECT_GE(whole, -5) << odd;
  }
  EXPECT_EQ(bounded_whole(1e308, 0, INT64_MAX), INT64_MAX);
  EXPECT_EQ(bounded_whole(-1e308, INT64_MIN, 0), INT64_MIN);
  EXPECT_EQ(bounded_whole(2.5, 0, 10), 3);
  EXPECT_EQ(bounded_whole(9223372036854775807.0, 0, INT64_MAX), INT64_MAX) << "2^63 itself does not fit";
}

TEST(Finite, CoresAreCountedUpwards) {
  EXPECT_EQ(milli_cores(0.0001), 1);
  EXPECT_EQ(milli_cores(0.5), 500);
  EXPECT_EQ(milli_cores(std::numeric_limits<double>::quiet_NaN()), 0);
  EXPECT_EQ(milli_cores(-1), 0);
  EXPECT_EQ(milli_cores(std::numeric_limits<double>::infinity()), 1'000'000'000);
}

}  // namespace
}  // namespace hodei::finite_test
