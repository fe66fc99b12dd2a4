#include <optional>

#include "src/cli/job/log_text.h"
#include "src/cli/text/moments.h"

#include "gtest/gtest.h"

namespace hodei::cli::log_text_test {
namespace {

class LogTextTest : public testing::Test {
 protected:
  void open(const LogFlags& flags, LogText::Terminals terminals = {}) {
    LogFlags named = flags;
    named.id = "j1";
    request_ = make_log_request(named, false, WallTime{0}).value();
    text_.emplace(request_, terminals,
                  [this](bool is_stderr, const std::string& bytes) { (is_stderr ? err_ : out_) += bytes; });
  }
  void take(const std::string& bytes, bool is_stderr = false, int execution = 1) {
    v1::LogEntry entry;
    entry.set_is_stderr(is_stderr);
    entry.set_execution(execution);
    entry.set_partial(!bytes.ends_with('\n'));
    entry.mutable_timestamp()->set_seconds(++second_);
    text_->take(entry, bytes);
  }

  LogRequest request_;
  std::optional<LogText> text_;
  int64_t second_ = 0;
  std::string out_, err_;
};

TEST_F(LogTextTest, ShowsTheLastStateOfAProgressBarWhereNoTerminalDraws) {
  open({});
  take("begin\n");
  take("\r10 %");
  take("\r55 %");
  EXPECT_EQ(out_, "begin\n") << "it may not be the last";
  take("\r100 %\n");
  take("next\n");
  EXPECT_EQ(out_, "begin\n100 %\nnext\n");
}

TEST_F(LogTextTest, PassesAProgressBarOnToATerminal) {
  open({}, {.out = true, .err = true});
  take("\r10 %");
  take("\r55 %");
  EXPECT_EQ(out_, "\r10 %\r55 %");
}

TEST_F(LogTextTest, GivesEveryByteWhenAskedForRawOutput) {
  open({.raw = true});
  take("\r10 %");
  take("\r\xff\x01 %\n");
  EXPECT_EQ(out_, "\r10 %\r\xff\x01 %\n");
}

TEST_F(LogTextTest, KeepsTheLineEndsOfOtherSystems) {
  open({});
  take("dos\r\n");
  take("half");
  take("\r\n");
  EXPECT_EQ(out_, "dos\r\nhalf\r\n");
}

TEST_F(LogTextTest, PutsTheLastLineOutThoughItHasNoEnd) {
  open({});
  take("no newline");
  text_->finish();
  EXPECT_EQ(out_, "no newline");
}

TEST_F(LogTextTest, JoinsThePiecesOfAnOverLongLineWithoutHoldingItAll) {
  open({.timestamps = true});
  const std::string piece(LogText::kMostHeld, 'x');
  for (int i = 0; i < 3; ++i) {
    take(piece);
    EXPECT_EQ(out_.size(), piece.size() * static_cast<size_t>(i + 1) + 25) << "one time stamp, at its beginning";
  }
  take("end\n");
  EXPECT_TRUE(out_.ends_with("xend\n"));
}

TEST_F(LogTextTest, ChoosesWholeLinesByTheirPattern) {
  open({.pattern = "er+or$"});
  take("an er");
  take("ror\n");
  take("errors\n");
  take("error\n", true);
  EXPECT_EQ(out_, "an error\n");
  EXPECT_EQ(err_, "error\n");
}

TEST_F(LogTextTest, ChoosesOneStream) {
  open({.stderr_only = true});
  take("out\n");
  take("err\n", true);
  EXPECT_EQ(out_ + err_, "err\n");
}

TEST_F(LogTextTest, ALineOfOneExecutionIsNotContinuedByTheNext) {
  open({.timestamps = true});
  take("one", false, 1);
  take("two\n", false, 2);
  EXPECT_EQ(out_, "1970-01-01T00:00:01.000Z one1970-01-01T00:00:02.000Z two\n");
}

TEST(LogRequest, RefusesFlagsThatContradictEachOther) {
  const std::pair<LogFlags, const char*> kWrong[] = {
      {{.stdout_only = true, .stderr_only = true}, "--stdout-only"},
      {{.timestamps = true, .raw = true}, "--raw"},
      {{.pattern = "a", .raw = true}, "--raw"},
      {{.execution = 1, .tail = "5", .offset = "3"}, "--offset"},
      {{.offset = "3"}, "--attempt"},
      {{.pattern = "a("}, "--grep"},
      {{.tail = "0"}, "--tail"},
      {{.since = "yesterday"}, "--since"},
      {{.execution = -1}, "--attempt"},
  };
  for (const auto& [flags, word] : kWrong) {
    LogFlags named = flags;
    named.id = "j1";
    const absl::Status refused = make_log_request(named, false, WallTime{0}).status();
    EXPECT_NE(std::string(refused.message()).find(word), std::string::npos) << word << ": " << refused;
  }
  EXPECT_FALSE(make_log_request({.id = "j1", .raw = true}, true, WallTime{0}).ok()) << "JSON is never raw";
}

TEST(LogRequest, UnderstandsTimesAndTimesAgo) {
  const WallTime now{1'000'000'000'000};
  EXPECT_EQ(parse_moment("--since", "10m", now, true).value(), now - 10min);
  EXPECT_EQ(parse_moment("--since", "1970-01-02T00:00:01Z", now, true).value(), WallTime{86'401'000'000});
  EXPECT_EQ(parse_moment("--since", "1970-01-02T01:00:01+01:00", now, true).value(), WallTime{86'401'000'000});
  EXPECT_EQ(parse_moment("--since", "1970-01-02 00:00", now, true).value(), WallTime{86'400'000'000});
  EXPECT_EQ(parse_moment("--since", "1970-01-02", now, true).value(), WallTime{86'400'000'000});
}

}  // namespace
}  // namespace hodei::cli::log_text_test
