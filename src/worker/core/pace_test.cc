#include "src/worker/core/pace.h"

#include "gtest/gtest.h"

namespace hodei::worker::pace_test {
namespace {

MonoTime at(Duration since) { return MonoTime{1'000'000'000} + since; }

Duration gather_time(Pace& pace, Duration since, size_t under_way = 0, bool has_free_slots = true) {
  return pace.gather_time(under_way, 2, has_free_slots, 1ms, 3ms, at(since));
}

TEST(Pace, IsFastOnlyWhileMuchEnds) {
  Pace pace;
  for (int i = 0; i < Pace::kMany - 1; ++i) pace.note(at(i * 100us));
  EXPECT_EQ(gather_time(pace, 2ms), 0ms);
  pace.note(at(2ms));
  EXPECT_EQ(gather_time(pace, 2ms), 1ms);
  EXPECT_EQ(gather_time(pace, Pace::kWindow + 2ms), 1ms) << "the window before counts";
  EXPECT_EQ(gather_time(pace, 3 * Pace::kWindow), 0ms) << "but not for ever";
}

TEST(Pace, ALongSilenceIsForgottenAtOnce) {
  Pace pace;
  for (int i = 0; i < 100; ++i) pace.note(at(0ms));
  EXPECT_EQ(gather_time(pace, 10s, 1000), 0ms);
}

TEST(Pace, AFewLongerJobsNeverWait) {
  Pace pace;
  for (int i = 0; i < 1000; ++i) {
    pace.note(at(i * 2ms));
    EXPECT_EQ(gather_time(pace, i * 2ms, 1000), 0ms);
  }
}

TEST(Pace, WhatIsUnderWayLastsTwiceAsLong) {
  Pace pace;
  for (int i = 0; i < 60; ++i) pace.note(at(0ms));  // six in a millisecond
  EXPECT_EQ(gather_time(pace, 0ms, 24, false), 2ms);
  EXPECT_EQ(gather_time(pace, 0ms, 100, false), 3ms) << "no longer than the most";
  EXPECT_EQ(gather_time(pace, 0ms, 11, false), 0ms) << "the worker would run dry";
  EXPECT_EQ(gather_time(pace, 0ms, 11, true), 1ms) << "not with free slots: it gets more anyway";
}

TEST(Pace, AFewUnderWayAreNoReasonToWaitHoweverSlowTheyEnd) {
  Pace pace;
  for (int i = 0; i < Pace::kMany; ++i) pace.note(at(0ms));
  EXPECT_EQ(gather_time(pace, 0ms, 2 * Pace::kPlenty - 1, false), 0ms);
  EXPECT_EQ(gather_time(pace, 0ms, 2 * Pace::kPlenty, false), 3ms);
}

}  // namespace
}  // namespace hodei::worker::pace_test
