#include "src/worker/supervisor/input_feeder.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "gtest/gtest.h"

namespace hodei::worker::input_feeder_test {
namespace {

class InputFeederTest : public testing::Test {
 protected:
  InputFeederTest() {
    signal(SIGPIPE, SIG_IGN);
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    job_ = Fd(ends[0]);
    ours_ = Fd(ends[1]);
  }
  std::string read_some(size_t most = 1 << 20) {
    std::string out(most, '\0');
    const ssize_t got = read(job_.get(), out.data(), out.size());
    return got <= 0 ? std::string() : out.substr(0, static_cast<size_t>(got));
  }
  bool is_at_end() {
    char byte = 0;
    return read(job_.get(), &byte, 1) == 0;
  }

  Fd job_, ours_;
  InputFeeder feeder_;
};

TEST_F(InputFeederTest, GivesTheJobWhatCameBeforeItStarted) {
  feeder_.add(0, "hello", true);
  EXPECT_FALSE(feeder_.take_news());
  feeder_.open(std::move(ours_));
  EXPECT_EQ(read_some(), "hello");
  EXPECT_TRUE(is_at_end());
  EXPECT_TRUE(feeder_.is_done());
}

TEST_F(InputFeederTest, PassesOverWhatANewAgentSendsAgain) {
  feeder_.open(std::move(ours_));
  feeder_.add(0, "abc", false);
  feeder_.add(1, "bcd", false);
  feeder_.add(9, "gap", false);
  EXPECT_EQ(read_some(), "abcd");
  EXPECT_EQ(feeder_.given(), 4);
  EXPECT_FALSE(is_at_end());
}

TEST_F(InputFeederTest, WaitsForAJobThatDoesNotRead) {
  feeder_.open(std::move(ours_));
  const std::string block(kInputWindow, 'x');
  feeder_.add(0, block, false);
  const int64_t in_pipe = feeder_.given();
  EXPECT_LT(in_pipe, kInputWindow);
  EXPECT_TRUE(feeder_.take_news());
  EXPECT_FALSE(feeder_.take_news());
  EXPECT_EQ(static_cast<int64_t>(read_some(static_cast<size_t>(in_pipe)).size()), in_pipe);
  feeder_.feed();
  EXPECT_GT(feeder_.given(), in_pipe);
}

TEST_F(InputFeederTest, SaysThatAllOfAShortInputIsGiven) {
  feeder_.open(std::move(ours_));
  feeder_.add(0, "hi", false);
  EXPECT_TRUE(feeder_.take_news());
  EXPECT_FALSE(feeder_.take_news());
}

TEST_F(InputFeederTest, TakesNoMoreThanItsWindow) {
  const std::string block(kInputWindow, 'x');
  feeder_.add(0, block, false);
  feeder_.add(kInputWindow, "more", false);
  EXPECT_EQ(feeder_.received(), kInputWindow);
}

TEST_F(InputFeederTest, NoticesThatTheJobHasClosedItsInput) {
  feeder_.open(std::move(ours_));
  job_.reset();
  feeder_.add(0, "nobody reads this", false);
  EXPECT_TRUE(feeder_.is_closed());
  EXPECT_TRUE(feeder_.take_news());
  EXPECT_FALSE(feeder_.take_news());
}

TEST_F(InputFeederTest, ThatBreaksOffSaysWhetherTheJobHasReadSomeOfIt) {
  feeder_.open(std::move(ours_));
  feeder_.add(0, "half", false);
  EXPECT_EQ(read_some(1), "h");
  feeder_.break_off();
  EXPECT_TRUE(feeder_.is_half_read());
  EXPECT_EQ(read_some(), "alf");
  EXPECT_TRUE(is_at_end());
}

TEST_F(InputFeederTest, ThatBreaksOffBeforeTheJobReadsItIsHalfReadAfterwards) {
  feeder_.open(std::move(ours_));
  feeder_.add(0, "half", false);
  feeder_.break_off();
  EXPECT_FALSE(feeder_.is_half_read()) << "so far";
  EXPECT_EQ(read_some(), "half");
  EXPECT_TRUE(is_at_end());
  EXPECT_TRUE(feeder_.is_half_read());
}

TEST_F(InputFeederTest, ThatBreaksOffBeforeTheStartIsNoEmptyInput) {
  feeder_.add(0, "half", false);
  feeder_.break_off();
  feeder_.open(std::move(ours_));
  EXPECT_TRUE(feeder_.is_half_read());
}

TEST_F(InputFeederTest, OfAJobThatNeverReadIsNoLoss) {
  feeder_.open(std::move(ours_));
  feeder_.add(0, "half", false);
  feeder_.break_off();
  EXPECT_FALSE(feeder_.is_half_read());
}

}  // namespace
}  // namespace hodei::worker::input_feeder_test
