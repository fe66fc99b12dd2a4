#include "src/store/conformance/log_store_suite.h"

#include "gmock/gmock.h"

namespace hodei::store {

using testing::ElementsAre;
using testing::IsEmpty;

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LogStoreSuite);

LogStoreSuite::LogStoreSuite() : harness_(GetParam().make()) {}
LogStoreSuite::~LogStoreSuite() = default;

LogPiece piece_of(ExecutionId execution, int64_t offset, const std::string& text, int64_t time_us) {
  LogPiece out{.execution = execution, .offset = offset, .data = text};
  for (size_t start = 0; start < text.size();) {
    const size_t newline = text.find('\n', start);
    const size_t end = newline == std::string::npos ? text.size() : newline + 1;
    out.lines.push_back({.length = static_cast<uint32_t>(end - start),
                         .is_stderr = out.lines.size() % 2 == 1,
                         .partial = newline == std::string::npos,
                         .time_us = time_us + static_cast<int64_t>(out.lines.size())});
    start = end;
  }
  return out;
}

std::string read_all(const LogStore& store, ExecutionId execution, int64_t from, size_t max_bytes) {
  std::string out;
  for (;;) {
    const absl::StatusOr<LogPiece> piece = store.read(execution, from, max_bytes);
    if (!piece.ok()) return out + " ERROR " + piece.status().ToString();
    out += piece->data;
    if (piece->data.empty() || piece->end) return out;
    from = piece->offset + static_cast<int64_t>(piece->data.size());
  }
}

namespace {

constexpr ExecutionId kOne{JobId{7}, 1};
constexpr ExecutionId kTwo{JobId{7}, 2};
constexpr ExecutionId kOther{JobId{8}, 1};

LogPiece ended(LogPiece piece) {
  piece.end = true;
  return piece;
}

TEST_P(LogStoreSuite, GivesManyEmptyLinesInPortions) {
  const std::string text(100'000, '\n');
  ASSERT_TRUE(store().append({piece_of(kOne, 0, text)}).ok());
  EXPECT_LT(store().read(kOne, 0, 64 << 10).value().lines.size(), 10'000u)
      << "each line costs more than its byte to send";
  EXPECT_EQ(read_all(store(), kOne, 0, 64 << 10), text);
}

TEST_P(LogStoreSuite, GivesBackTextLinesAndTimes) {
  ASSERT_TRUE(store().append({piece_of(kOne, 0, "out\nerr\npart", -5)}).ok());
  const LogPiece read = store().read(kOne, 0, 1000).value();
  EXPECT_EQ(read.execution, kOne);
  EXPECT_EQ(read.data, "out\nerr\npart");
  ASSERT_EQ(read.lines.size(), 3u);
  EXPECT_EQ(read.lines[1].length, 4u);
  EXPECT_TRUE(read.lines[1].is_stderr);
  EXPECT_EQ(read.lines[1].time_us, -4);
  EXPECT_FALSE(read.lines[1].partial);
  EXPECT_TRUE(read.lines[2].partial);
  EXPECT_FALSE(read.end);
}

TEST_P(LogStoreSuite, BytesOfEveryValueSurvive) {
  std::string text;
  for (int i = 0; i < 70'000; ++i) text.push_back(static_cast<char>(i * 31 + i / 256));
  ASSERT_TRUE(store().append({piece_of(kOne, 0, text)}).ok());
  EXPECT_EQ(read_all(store(), kOne), text);
}

TEST_P(LogStoreSuite, AnUnknownExecutionHasNothing) {
  EXPECT_FALSE(store().extent(kOne).exists);
  EXPECT_THAT(store().executions(kOne.job), IsEmpty());
  const LogPiece read = store().read(kOne, 0, 1000).value();
  EXPECT_TRUE(read.data.empty());
  EXPECT_FALSE(read.end);
}

TEST_P(LogStoreSuite, WhatIsSentAgainIsKeptOnce) {
  const LogPiece piece = piece_of(kOne, 0, "a\nb\n");
  ASSERT_TRUE(store().append({piece, piece}).ok());
  ASSERT_TRUE(store().append({piece}).ok());
  EXPECT_EQ(read_all(store(), kOne), "a\nb\n");
  EXPECT_EQ(store().extent(kOne).entries, 2);
}

TEST_P(LogStoreSuite, TheKnownPartOfAPieceIsCutOffAlsoInsideALine) {
  ASSERT_TRUE(store().append({piece_of(kOne, 0, "first\nsec")}).ok());
  ASSERT_TRUE(store().append({piece_of(kOne, 0, "first\nsecond\nthird\n")}).ok());
  EXPECT_EQ(read_all(store(), kOne), "first\nsecond\nthird\n");
  const LogPiece rest = store().read(kOne, 9, 1000).value();
  ASSERT_EQ(rest.lines.size(), 2u);
  EXPECT_EQ(rest.lines[0].length, 4u);
  EXPECT_EQ(store().extent(kOne).next_offset, 19);
}

TEST_P(LogStoreSuite, AHoleIsRecordedAsLost) {
  ASSERT_TRUE(store().append({piece_of(kOne, 0, "a\n"), piece_of(kOne, 100, "b\n")}).ok());
  const LogPiece read = store().read(kOne, 2, 1000).value();
  EXPECT_EQ(read.offset, 100);
  EXPECT_EQ(read.lost, 98);
  EXPECT_EQ(read.data, "b\n");
  EXPECT_EQ(store().extent(kOne).next_offset, 102);
  // What fills the hole later comes too late: readers have been told.
  ASSERT_TRUE(store().append({piece_of(kOne, 2, "late\n")}).ok());
  EXPECT_EQ(store().extent(kOne).next_offset, 102);
}

TEST_P(LogStoreSuite, WhatTheWorkerCallsLostIsKept) {
  LogPiece piece = piece_of(kOne, 50, "b\n");
  piece.lost = 50;
  ASSERT_TRUE(store().append({piece}).ok());
  ASSERT_TRUE(store().append({piece}).ok());
  EXPECT_EQ(store().read(kOne, 0, 1000)->lost, 50);
  EXPECT_EQ(store().extent(kOne).first_offset, 0);
}

TEST_P(LogStoreSuite, AHoleWithoutDataWaitsForWhatFollows) {
  ASSERT_TRUE(store().append({LogPiece{.execution = kOne, .offset = 10, .lost = 10}}).ok());
  EXPECT_EQ(store().extent(kOne).next_offset, 0);
}

TEST_P(LogStoreSuite, TheEndMarkerComesWithTheLastLine) {
  ASSERT_TRUE(store().append({ended(piece_of(kOne, 0, "a\nb\n"))}).ok());
  EXPECT_TRUE(store().extent(kOne).ended);
  EXPECT_FALSE(store().read(kOne, 0, 1)->end);
  EXPECT_TRUE(store().read(kOne, 2, 1)->end);
  EXPECT_TRUE(store().read(kOne, 4, 1)->end);
}

TEST_P(LogStoreSuite, TheEndMarkerMayComeAloneAndSayThatSomethingIsMissing) {
  ASSERT_TRUE(store().append({piece_of(kOne, 0, "a\n")}).ok());
  ASSERT_TRUE(store().append({LogPiece{.execution = kOne, .offset = 2, .lost = kLostUnknown, .end = true}}).ok());
  EXPECT_FALSE(store().read(kOne, 0, 1000)->end);
  const LogPiece end = store().read(kOne, 2, 1000).value();
  EXPECT_TRUE(end.end);
  EXPECT_EQ(end.lost, kLostUnknown);
}

TEST_P(LogStoreSuite, NothingFollowsTheEnd) {
  ASSERT_TRUE(store().append({ended(piece_of(kOne, 0, "a\n")), piece_of(kOne, 2, "b\n")}).ok());
  ASSERT_TRUE(store().append({piece_of(kOne, 2, "b\n"), ended(piece_of(kOne, 2, ""))}).ok());
  EXPECT_EQ(read_all(store(), kOne), "a\n");
}

TEST_P(LogStoreSuite, OutputMayBeEmpty) {
  ASSERT_TRUE(store().append({ended(piece_of(kOne, 0, ""))}).ok());
  const LogExtent extent = store().extent(kOne);
  EXPECT_TRUE(extent.exists && extent.ended);
  EXPECT_EQ(extent.next_offset, 0);
  EXPECT_TRUE(store().read(kOne, 0, 1000)->end);
  EXPECT_THAT(store().executions(kOne.job), ElementsAre(1));
}

TEST_P(LogStoreSuite, ReadsAreCutOnLinesAndAtTheirStart) {
  ASSERT_TRUE(store().append({piece_of(kOne, 0, "one\ntwo\nthree\n")}).ok());
  EXPECT_EQ(store().read(kOne, 0, 8)->data, "one\ntwo\n");
  EXPECT_EQ(store().read(kOne, 0, 9)->data, "one\ntwo\n");
  EXPECT_EQ(store().read(kOne, 0, 1)->data, "one\n") << "at least one line, or nobody would get on";
  const LogPiece inside = store().read(kOne, 5, 1000).value();
  EXPECT_EQ(inside.offset, 5);
  EXPECT_EQ(inside.data, "wo\nthree\n");
  EXPECT_EQ(inside.lines[0].length, 3u);
  EXPECT_EQ(read_all(store(), kOne, 0, 1), "one\ntwo\nthree\n");
}

TEST_P(LogStoreSuite, LinesAreNumbered) {
  ASSERT_TRUE(store().append({piece_of(kOne, 0, "0\n1\n"), piece_of(kOther, 0, "x\n")}).ok());
  ASSERT_TRUE(store().append({piece_of(kOne, 4, "2\n3\n4\n")}).ok());
  EXPECT_EQ(store().read_numbered(kOne, 0, 1000)->first_line, 0);
  EXPECT_EQ(store().read_numbered(kOne, 6, 1000)->first_line, 3);
  EXPECT_EQ(store().offset_of_line(kOne, 0).value(), 0);
  EXPECT_EQ(store().offset_of_line(kOne, 3).value(), 6);
  EXPECT_EQ(store().offset_of_line(kOne, 99).value(), 10);
}

TEST_P(LogStoreSuite, ExecutionsAreApartAndListedInOrder) {
  ASSERT_TRUE(store().append({piece_of(kTwo, 0, "2\n"), piece_of(kOther, 0, "o\n"), piece_of(kOne, 0, "1\n")}).ok());
  EXPECT_EQ(read_all(store(), kOne), "1\n");
  EXPECT_EQ(read_all(store(), kTwo), "2\n");
  EXPECT_THAT(store().executions(kOne.job), ElementsAre(1, 2));
}

TEST_P(LogStoreSuite, APieceWhoseLinesDoNotAddUpIsRefusedAndNothingIsWritten) {
  LogPiece bad = piece_of(kOne, 0, "a\n");
  bad.lines[0].length = 3;
  EXPECT_TRUE(absl::IsInvalidArgument(store().append({piece_of(kOther, 0, "o\n"), bad})));
  EXPECT_FALSE(store().extent(kOther).exists);
}

TEST_P(LogStoreSuite, ALongLogReadsBackFromAnywhere) {
  std::string text;
  for (int i = 0; i < 600; ++i) {
    const std::string line = "line " + std::to_string(i) + " of a long log\n";
    ASSERT_TRUE(store().append({piece_of(kOne, static_cast<int64_t>(text.size()), line)}).ok());
    text += line;
  }
  EXPECT_EQ(read_all(store(), kOne), text);
  for (size_t from = 0; from < text.size(); from += 1319) {
    ASSERT_EQ(read_all(store(), kOne, static_cast<int64_t>(from)), text.substr(from));
  }
  for (int64_t line : {0, 1, 277, 599}) {
    const int64_t offset = store().offset_of_line(kOne, line).value();
    EXPECT_EQ(store().read(kOne, offset, 1)->data, "line " + std::to_string(line) + " of a long log\n");
    EXPECT_EQ(store().read_numbered(kOne, offset, 1)->first_line, line);
  }
}

TEST_P(LogStoreSuite, ClearForgetsOneJob) {
  ASSERT_TRUE(store().append({piece_of(kOne, 0, "1\n"), piece_of(kTwo, 0, "22\n"), piece_of(kOther, 0, "o\n")}).ok());
  EXPECT_EQ(store().clear(kOne.job).value(), 5);
  EXPECT_EQ(store().clear(kOne.job).value(), 0);
  EXPECT_FALSE(store().extent(kOne).exists);
  EXPECT_THAT(store().executions(kOne.job), IsEmpty());
  EXPECT_EQ(read_all(store(), kOne), "");
  EXPECT_EQ(read_all(store(), kOther), "o\n");
  ASSERT_TRUE(store().append({piece_of(kOne, 0, "again\n")}).ok());
  EXPECT_EQ(read_all(store(), kOne), "again\n");
}

TEST_P(LogStoreSuite, WhatIsTooOldExpires) {
  ASSERT_TRUE(store().append({ended(piece_of(kOne, 0, "old\n"))}).ok());
  EXPECT_EQ(store().expire({.max_age = 1h}, harness().clock().now().wall).value(), 0);
  harness().clock().advance(2h);
  EXPECT_GT(store().expire({.max_age = 1h}, harness().clock().now().wall).value(), 0);
  EXPECT_FALSE(store().extent(kOne).exists);
  ASSERT_TRUE(store().append({piece_of(kOther, 0, "new\n")}).ok());
  EXPECT_EQ(store().expire({.max_age = 1h}, harness().clock().now().wall).value(), 0);
  EXPECT_EQ(read_all(store(), kOther), "new\n");
}

TEST_P(LogStoreSuite, AgeTakesAPartAtATime) {
  const std::string line(1000, 'x');
  for (uint64_t job = 1; job <= 200; ++job) ASSERT_TRUE(store().append({piece_of({JobId{job}, 1}, 0, line)}).ok());
  const auto left = [&] {
    int count = 0;
    for (uint64_t job = 1; job <= 200; ++job) count += store().extent({JobId{job}, 1}).exists;
    return count;
  };
  harness().clock().advance(std::chrono::hours(24 * 730));  // a clock that is two years ahead
  EXPECT_GT(store().expire({.max_age = 1h}, harness().clock().now().wall).value(), 0);
  EXPECT_GT(left(), 100);
  for (int i = 0; i < 1000 && left() > 0; ++i)
    ASSERT_TRUE(store().expire({.max_age = 1h}, harness().clock().now().wall).ok());
  EXPECT_EQ(left(), 0);
}

TEST_P(LogStoreSuite, TheOldestExpireWhenThereIsTooMuch) {
  const std::string line(1000, 'x');
  for (uint64_t job = 1; job <= 200; ++job) {
    ASSERT_TRUE(store().append({piece_of({JobId{job}, 1}, 0, line)}).ok());
    harness().clock().advance(1s);
  }
  EXPECT_GT(store().expire({.max_bytes = 10'000}, harness().clock().now().wall).value(), 0);
  EXPECT_FALSE(store().extent({JobId{1}, 1}).exists);
  EXPECT_TRUE(store().extent({JobId{200}, 1}).exists);
}

TEST_P(LogStoreSuite, EverythingIsThereAfterReopening) {
  if (!harness().can_reopen()) GTEST_SKIP();
  std::string text;
  for (int i = 0; i < 300; ++i) {
    const std::string line = std::to_string(i) + "\n";
    ASSERT_TRUE(store().append({piece_of(kOne, static_cast<int64_t>(text.size()), line)}).ok());
    text += line;
    if (i % 50 == 0) harness().reopen();
  }
  ASSERT_TRUE(store().append({piece_of(kOther, 0, "gone\n"), ended(piece_of(kTwo, 0, "2\n"))}).ok());
  ASSERT_TRUE(store().clear(kOther.job).ok());
  harness().reopen();
  EXPECT_EQ(read_all(store(), kOne), text);
  EXPECT_EQ(store().extent(kOne).entries, 300);
  EXPECT_TRUE(store().extent(kTwo).ended);
  EXPECT_FALSE(store().extent(kOther).exists);
  EXPECT_THAT(store().executions(kOne.job), ElementsAre(1, 2));
}

}  // namespace
}  // namespace hodei::store
