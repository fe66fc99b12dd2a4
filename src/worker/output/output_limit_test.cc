#include "src/worker/output/output_limit.h"

#include "gtest/gtest.h"

namespace hodei::worker::output_limit_test {
namespace {

using Do = OutputLimit::Do;
constexpr MonoTime kStart{1'000'000'000};

// Takes all that it may, as a job that prints without end makes the supervisor do; the bytes kept until `end`.
int64_t take_until(OutputLimit& limit, MonoTime& now, MonoTime end, int* steps = nullptr) {
  int64_t taken = 0;
  while (now < end) {
    const OutputLimit::Step step = limit.next(now);
    if (steps != nullptr) ++*steps;
    if (step.what == Do::Wait) {
      EXPECT_GT(step.until, now) << "a wait that is over at once would be a busy loop";
      now = step.until;
    } else {
      EXPECT_EQ(step.what, Do::Keep);
      limit.kept(step.most);
      taken += static_cast<int64_t>(step.most);
    }
  }
  return taken;
}

TEST(OutputLimit, KeepsEverythingWithoutRules) {
  OutputLimit limit({}, kStart);
  limit.kept(size_t{1} << 40);
  EXPECT_EQ(limit.next(kStart).what, Do::Keep);
  EXPECT_EQ(limit.next(kStart).most, SIZE_MAX);
}

TEST(OutputLimit, DiscardsWhatComesAfterTheSize) {
  for (const bool drop : {false, true}) {
    OutputLimit limit({.drop = drop, .max_bytes = 100}, kStart);
    EXPECT_EQ(limit.next(kStart).most, 100u);
    limit.kept(60);
    EXPECT_EQ(limit.next(kStart).most, 40u);
    limit.kept(40);
    EXPECT_EQ(limit.next(kStart).what, Do::Discard) << "the job never waits for a size that will not grow";
  }
}

TEST(OutputLimit, KeepsToItsRateOverTime) {
  for (const int64_t rate : {int64_t{1}, int64_t{10}, int64_t{1000}, int64_t{1} << 20, int64_t{1} << 40}) {
    OutputLimit limit({.max_bytes_per_second = rate}, kStart);
    MonoTime now = kStart;
    int steps = 0;
    const int64_t taken = take_until(limit, now, kStart + 10s, &steps);
    EXPECT_LE(taken, rate * 11) << "one bucket and ten seconds, rate " << rate;
    EXPECT_GE(taken, rate * 10 * 9 / 10) << rate;
    EXPECT_LE(steps, 10 * 2 * 20 + 3) << "a portion at a time, rate " << rate;
  }
}

TEST(OutputLimit, DoesNotSaveUpMoreThanASecond) {
  OutputLimit limit({.max_bytes_per_second = 1000}, kStart);
  EXPECT_EQ(limit.next(kStart + 3600s).most, 1000u);
}

TEST(OutputLimit, DropsWhatIsTooFastWhenItMay) {
  OutputLimit limit({.drop = true, .max_bytes_per_second = 1000}, kStart);
  limit.kept(limit.next(kStart).most);
  EXPECT_EQ(limit.next(kStart).what, Do::Discard);
  EXPECT_EQ(limit.next(kStart + 999ms).what, Do::Discard) << "a portion is a second's worth when that is little";
  EXPECT_EQ(limit.next(kStart + 1000ms).what, Do::Keep);
}

TEST(OutputLimit, ForgetsTheRateButNotTheSizeOnceTheJobHasEnded) {
  OutputLimit limit({.max_bytes = 1500, .max_bytes_per_second = 1000}, kStart);
  limit.kept(limit.next(kStart).most);
  EXPECT_EQ(limit.next(kStart).what, Do::Wait);
  limit.ignore_rate();
  EXPECT_EQ(limit.next(kStart).what, Do::Keep);
  EXPECT_EQ(limit.next(kStart).most, 500u);
}

}  // namespace
}  // namespace hodei::worker::output_limit_test
