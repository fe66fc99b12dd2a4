#include <vector>

#include "src/cli/job/log_cursor.h"

#include "gtest/gtest.h"
#include "src/cli/terminal/exit_code.h"

namespace hodei::cli::log_cursor_test {
namespace {

class LogCursorTest : public testing::Test {
 protected:
  static v1::LogChunk chunk(int execution, int64_t offset, const std::vector<std::string>& lines) {
    v1::LogChunk out;
    out.set_execution(execution);
    for (const std::string& line : lines) {
      v1::LogEntry& entry = *out.add_entries();
      const bool whole = !line.empty() && line.back() == '\n';
      entry.set_line(whole ? line.substr(0, line.size() - 1) : line);
      entry.set_partial(!whole);
      entry.set_offset(offset);
      offset += static_cast<int64_t>(line.size());
    }
    out.set_next_offset(offset);
    return out;
  }

  void take(const v1::LogChunk& c) {
    cursor_.take(
        c, [this](const LogCursor::Piece& piece) { seen_ += piece.bytes; }, [this](const v1::LogGap&) { ++gaps_; });
  }

  LogCursor cursor_{"j1"};
  std::string seen_;
  int gaps_ = 0;
};

TEST_F(LogCursorTest, StartsWithEverythingAndResumesInsideAnExecution) {
  EXPECT_EQ(cursor_.request().execution(), 0);
  take(chunk(1, 0, {"a\n", "b\n"}));
  EXPECT_EQ(seen_, "a\nb\n");
  EXPECT_EQ(cursor_.request().execution(), 1);
  EXPECT_EQ(cursor_.request().from_offset(), 4);
}

TEST_F(LogCursorTest, DropsWhatWasSeenAlsoInTheMiddleOfALine) {
  take(chunk(1, 0, {"abc"}));
  take(chunk(1, 0, {"abc", "d\n"}));
  take(chunk(1, 1, {"bcd\n", "e\n"}));
  EXPECT_EQ(seen_, "abcd\ne\n");
}

TEST_F(LogCursorTest, AfterAnEndAsksForAllAndDropsOldExecutions) {
  v1::LogChunk last = chunk(1, 0, {"one\n"});
  last.set_end_of_execution(true);
  take(last);
  EXPECT_EQ(cursor_.request().execution(), 0);
  v1::LogChunk again = last;
  again.mutable_gap()->set_bytes(1);
  take(again);
  take(chunk(2, 0, {"two\n"}));
  EXPECT_EQ(seen_, "one\ntwo\n");
  EXPECT_EQ(gaps_, 0);
  EXPECT_EQ(cursor_.request().execution(), 2);
}

TEST_F(LogCursorTest, KeepsBytesAsTheyAre) {
  const std::string binary("\0\xff\r\n", 4);
  take(chunk(1, 0, {binary, "no newline"}));
  EXPECT_EQ(seen_, binary + "no newline");
}

v1::Job ended(v1::Job::State state, int exit_code = -1, int signal = 0, const std::string& failure = "") {
  v1::Job job;
  job.set_state(state);
  if (exit_code >= 0) job.set_exit_code(exit_code);
  job.set_signal(signal);
  job.set_failure(failure);
  return job;
}

TEST(ExitCode, IsTheJobsOwnOrSaysWhatHappened) {
  EXPECT_EQ(exit_code_of(ended(v1::Job::Succeeded, 0)), 0);
  EXPECT_EQ(exit_code_of(ended(v1::Job::Failed, 7, 0, "non_zero_exit")), 7);
  EXPECT_EQ(exit_code_of(ended(v1::Job::Failed, 0, 9, "signal")), 137);
  EXPECT_EQ(exit_code_of(ended(v1::Job::Timeout, 143, 15)), 124);
  EXPECT_EQ(exit_code_of(ended(v1::Job::Cancelled, -1, 15)), 130);
  EXPECT_EQ(exit_code_of(ended(v1::Job::Failed, -1, 0, "command_not_found")), 127);
  EXPECT_EQ(exit_code_of(ended(v1::Job::Failed, -1, 0, "permission_denied")), 126);
  EXPECT_EQ(exit_code_of(ended(v1::Job::Failed, 7, 0, "worker_lost")), 125);
  EXPECT_EQ(exit_code_of(ended(v1::Job::Failed, 0, 0, "reported")), 1);
  EXPECT_EQ(exit_code_of(ended(v1::Job::Failed)), 125);
  EXPECT_EQ(exit_code_of(ended(v1::Job::Failed, 127, 0, "non_zero_exit")), 127);
}

}  // namespace
}  // namespace hodei::cli::log_cursor_test
