#include "src/core/timers.h"

#include <vector>

#include "gtest/gtest.h"

namespace hodei::core::timers_test {
namespace {

Timer backoff(uint64_t job) { return {.kind = TimerKind::Backoff, .number = job}; }

std::vector<uint64_t> due(Timers& timers, MonoTime now, TimerKind kind = TimerKind::Backoff) {
  std::vector<uint64_t> out;
  while (const std::optional<Timer> timer = timers.take_due(kind, now)) out.push_back(timer->number);
  return out;
}

TEST(Timers, AreTakenInTheirOrderWhenTheyAreDue) {
  Timers timers;
  timers.set(backoff(1), MonoTime{30});
  timers.set(backoff(2), MonoTime{10});
  timers.set(backoff(3), MonoTime{20});
  EXPECT_EQ(timers.next(), MonoTime{10});
  EXPECT_EQ(due(timers, MonoTime{20}), (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(timers.next(), MonoTime{30});
  EXPECT_EQ(due(timers, MonoTime{29}), std::vector<uint64_t>{});
}

TEST(Timers, ThereIsOneForEachSubject) {
  Timers timers;
  timers.set(backoff(1), MonoTime{10});
  timers.set(backoff(1), MonoTime{50});
  EXPECT_EQ(timers.size(), 1u);
  EXPECT_EQ(due(timers, MonoTime{49}), std::vector<uint64_t>{});
  timers.set({.kind = TimerKind::Timeout, .number = 1}, MonoTime{5});
  EXPECT_EQ(timers.size(), 2u) << "another kind is about something else";
  timers.cancel(backoff(1));
  EXPECT_EQ(timers.size(), 1u);
  EXPECT_EQ(timers.next(), MonoTime{5});
}

TEST(Timers, WithNothingToWaitForTheyAreNeverDue) {
  Timers timers;
  EXPECT_EQ(timers.next(), kNever);
  timers.cancel(backoff(1));
  EXPECT_EQ(timers.size(), 0u);
}

TEST(Timers, ATimerOfTheWallClockFollowsItWhenItJumps) {
  constexpr int64_t kHour = 3'600'000'000;
  Timers timers;
  Now now{{1'000 * kHour}, {10 * kHour}};
  timers.set(backoff(1), now.wall + std::chrono::hours(5), now);
  timers.set(backoff(2), now.mono + std::chrono::hours(4));
  EXPECT_EQ(timers.next(), MonoTime{14 * kHour});
  // Somebody sets the clock three hours ahead.
  now = {{now.wall.us + 4 * kHour}, {now.mono.us + kHour}};
  timers.follow_wall_clock(now);
  EXPECT_EQ(timers.next(), MonoTime{12 * kHour}) << "one hour is left by the wall clock";
  // And back again.
  now = {{now.wall.us - 2 * kHour}, {now.mono.us + kHour}};
  timers.follow_wall_clock(now);
  EXPECT_EQ(due(timers, MonoTime{14 * kHour}), std::vector<uint64_t>{2}) << "the other clock did not jump";
  EXPECT_EQ(due(timers, MonoTime{15 * kHour}), std::vector<uint64_t>{1});
  timers.follow_wall_clock({{0}, {now.mono.us}});
  EXPECT_EQ(timers.size(), 0u) << "what was taken does not come back";
}

TEST(Timers, ASmallCorrectionOfTheWallClockIsNoJump) {
  Timers timers;
  const Now now{{1'000'000'000}, {1'000}};
  timers.set(backoff(1), WallTime{2'000'000'000}, now);
  const MonoTime before = timers.next();
  timers.follow_wall_clock({{now.wall.us + 5'000}, now.mono});
  EXPECT_EQ(timers.next(), before);
}

}  // namespace
}  // namespace hodei::core::timers_test
