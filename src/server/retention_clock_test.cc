// Stored things grow old as time passes, not as somebody sets the wall clock.
#include "src/server/retention_clock.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"

namespace hodei::server::retention_clock_test {
namespace {

constexpr Duration kTwoYears = 24h * 730;

class TwoHands final : public Clock {
 public:
  Now now() const override { return time; }
  void pass(Duration by) { time = {time.wall + by, time.mono + by}; }
  Now time{{1'800'000'000'000'000}, {5'000'000'000}};
};

class RetentionClockTest : public ::testing::Test {
 protected:
  RetentionClockTest() {
    char name[] = "/tmp/hodei-retention-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~RetentionClockTest() override { std::filesystem::remove_all(folder_); }
  RetentionClock open(const std::string& boot = "this-boot") { return {folder_, clock_, boot}; }

  std::string folder_;
  TwoHands clock_;
};

TEST_F(RetentionClockTest, IsTheWallClockWhileNobodySetsIt) {
  const RetentionClock clock = open();
  EXPECT_EQ(clock.now().wall, clock_.time.wall);
  clock_.pass(10h);
  EXPECT_EQ(clock.now().wall, clock_.time.wall);
  EXPECT_EQ(clock.now().mono, clock_.time.mono);
}

TEST_F(RetentionClockTest, AWallClockThatIsYearsAheadForAWhileMakesNothingOld) {
  const RetentionClock clock = open();
  const WallTime before = clock.now().wall;
  clock_.time.wall = clock_.time.wall + kTwoYears;
  for (int i = 0; i < 75; ++i) {
    clock_.pass(1s);
    EXPECT_LE(clock.now().wall - before, 2 * (i + 1) * Duration(1s));
  }
  clock_.time.wall = clock_.time.wall - kTwoYears;
  clock_.pass(1h);
  EXPECT_EQ(clock.now().wall, clock_.time.wall) << "and it is right again afterwards";
}

TEST_F(RetentionClockTest, NeverGoesBack) {
  const RetentionClock clock = open();
  const WallTime before = clock.now().wall;
  clock_.time.wall = clock_.time.wall - kTwoYears;
  clock_.pass(10s);
  EXPECT_EQ(clock.now().wall - before, Duration(5s)) << "half as fast, until the wall clock has caught up";
}

TEST_F(RetentionClockTest, AStartWithAWrongWallClockMakesNothingOld) {
  const WallTime before = clock_.time.wall;
  open().save();
  clock_.pass(1h);
  clock_.time.wall = clock_.time.wall + kTwoYears;
  EXPECT_LE(open().now().wall - before, Duration(2h));
}

TEST_F(RetentionClockTest, AfterARestartOfTheMachineAtMostADayCountsAtOnce) {
  const WallTime before = clock_.time.wall;
  open().save();
  clock_.time = {clock_.time.wall + 10h, MonoTime{1'000'000}};
  EXPECT_EQ(open("next-boot").now().wall, clock_.time.wall) << "as the wall clock says";
  clock_.time.wall = clock_.time.wall + kTwoYears;
  EXPECT_EQ(open("next-boot").now().wall, before + RetentionClock::kMaxGap);
}

TEST_F(RetentionClockTest, TheMachinesClockOfAnotherBootHasNotMeasuredWhatPassed) {
  open().save();
  clock_.pass(10h);
  clock_.time.mono = clock_.time.mono - 9h;  // up for longer than at the time of the saving, but from another start on
  EXPECT_EQ(open("next-boot").now().wall, clock_.time.wall);
}

TEST_F(RetentionClockTest, AFolderOfAnOlderVersionIsAsOldAsItsNewestFile) {
  std::ofstream(folder_ + "/hodei.db") << "x";
  const auto modified = std::filesystem::last_write_time(folder_ + "/hodei.db");
  const auto written =
      std::chrono::duration_cast<Duration>(std::chrono::file_clock::to_sys(modified).time_since_epoch());
  clock_.time.wall = WallTime{written.count()} + kTwoYears;
  EXPECT_LE(open().now().wall, WallTime{written.count() + 1'000'000} + RetentionClock::kMaxGap);
}

TEST_F(RetentionClockTest, ADamagedFileIsLikeNone) {
  std::ofstream(folder_ + "/retention_clock") << "no numbers";
  EXPECT_EQ(open().now().wall, clock_.time.wall);
}

}  // namespace
}  // namespace hodei::server::retention_clock_test
