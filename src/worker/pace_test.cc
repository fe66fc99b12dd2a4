#include "src/worker/pace.h"

#include "gtest/gtest.h"

namespace hodei::worker {
namespace {

MonoTime at(Duration since) { return MonoTime{1'000'000'000} + since; }

TEST(Pace, IsFastOnlyWhileMuchEnds) {
  Pace pace;
  for (int i = 0; i < Pace::kMany - 1; ++i) pace.note(at(i * 100us));
  EXPECT_FALSE(pace.is_fast(at(2ms)));
  pace.note(at(2ms));
  EXPECT_TRUE(pace.is_fast(at(2ms)));
  EXPECT_TRUE(pace.is_fast(at(Pace::kWindow + 2ms))) << "the window before counts";
  EXPECT_FALSE(pace.is_fast(at(3 * Pace::kWindow))) << "but not for ever";
}

TEST(Pace, ALongSilenceIsForgottenAtOnce) {
  Pace pace;
  for (int i = 0; i < 100; ++i) pace.note(at(0ms));
  EXPECT_FALSE(pace.is_fast(at(10s)));
}

TEST(Pace, AFewLongerJobsNeverAre) {
  Pace pace;
  for (int i = 0; i < 1000; ++i) {
    pace.note(at(i * 2ms));
    EXPECT_FALSE(pace.is_fast(at(i * 2ms)));
  }
}

}  // namespace
}  // namespace hodei::worker
