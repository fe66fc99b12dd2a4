// The way in: grouping, acknowledgements, holding back, a full disk. And pages and clearing.
#include "src/server/logs/log_hub.h"

#include "src/server/logs/log_hub_fixture.h"

namespace hodei::server::log_hub_test {
namespace {

using store::piece_of;

constexpr JobId kJob{7};
constexpr ExecutionId kOne{kJob, 1};
constexpr ExecutionId kTwo{kJob, 2};

store::LogPiece ended(store::LogPiece piece) {
  piece.end = true;
  return piece;
}

class LogHubTest : public testing::Test {
 protected:
  explicit LogHubTest(LogHubLimits limits = {})
      : hub_(
            store_, [this](JobId job) { return end_of(job); }, clock_, limits) {}
  ~LogHubTest() override { store_.let_go(); }

  absl::StatusOr<std::optional<JobEnd>> end_of(JobId job) {
    if (job == JobId{404}) return std::optional<JobEnd>();
    return std::optional<JobEnd>(end_);
  }
  bool offer(store::LogPiece piece) {
    std::vector<store::LogPiece> pieces;
    pieces.push_back(std::move(piece));
    return hub_.offer(worker_, pieces).value();
  }
  void finished(uint32_t last_execution) {
    end_ = {.finished = true, .last_execution = last_execution, .finished_at = clock_.now().wall};
    hub_.job_finished(kJob, last_execution);
  }

  store::HandClock clock_;
  store::MemoryLogStore memory_{&clock_};
  GatedStore store_{memory_};
  JobEnd end_;
  std::shared_ptr<FakeWorker> worker_ = std::make_shared<FakeWorker>();
  LogHub hub_;
};

TEST_F(LogHubTest, AcknowledgesWhatIsDurableAndNothingBefore) {
  hub_.start();
  store_.hold();
  ASSERT_TRUE(offer(piece_of(kOne, 0, "a\nb\n")));
  ASSERT_TRUE(store_.wait_arrivals(1));
  EXPECT_EQ(worker_->acknowledged_offset(kOne), 0);
  store_.let_go();
  ASSERT_TRUE(worker_->wait_acknowledged(kOne, 4));
  EXPECT_EQ(store::read_all(memory_, kOne), "a\nb\n");
}

TEST_F(LogHubTest, WritesEverythingThatWaitsWithOneAppend) {
  hub_.start();
  store_.hold();
  ASSERT_TRUE(offer(piece_of(kOne, 0, "0")));
  ASSERT_TRUE(store_.wait_arrivals(1));
  for (int i = 1; i < 50; ++i) ASSERT_TRUE(offer(piece_of(kOne, i, "x")));
  store_.let_go();
  ASSERT_TRUE(worker_->wait_acknowledged(kOne, 50));
  EXPECT_EQ(hub_.stats().appends, 2);
}

TEST_F(LogHubTest, AcknowledgesAgainWhatIsSentAgainAndWhatComesAfterTheEnd) {
  hub_.start();
  ASSERT_TRUE(offer(ended(piece_of(kOne, 0, "a\n"))));
  ASSERT_TRUE(worker_->wait_acknowledged(kOne, 2));
  ASSERT_TRUE(offer(piece_of(kOne, 0, "a\nlate\n")));
  ASSERT_TRUE(worker_->wait_acknowledged(kOne, 7));
  EXPECT_EQ(store::read_all(memory_, kOne), "a\n");
}

TEST_F(LogHubTest, RefusesPiecesThatMakeNoSense) {
  store::LogPiece bad = piece_of(kOne, 0, "a\n");
  bad.lines.clear();
  std::vector<store::LogPiece> pieces{bad};
  EXPECT_TRUE(absl::IsInvalidArgument(hub_.offer(worker_, pieces).status()));
}

class SmallInbox : public LogHubTest {
 protected:
  SmallInbox() : LogHubTest({.inbox_bytes = 10'000, .group_bytes = 5'000}) {}
};

TEST_F(SmallInbox, HoldsWorkersBackAndCallsThemWhenThereIsRoom) {
  hub_.start();
  store_.hold();
  int64_t sent = 0;
  const std::string text(1000, 'x');
  while (offer(piece_of(kOne, sent, text))) sent += 1000;
  EXPECT_LT(sent, 10'000);
  EXPECT_LE(hub_.stats().inbox_bytes, 10'000u);
  store_.let_go();
  ASSERT_TRUE(worker_->wait_room(1));
  ASSERT_TRUE(offer(piece_of(kOne, sent, text)));
  ASSERT_TRUE(worker_->wait_acknowledged(kOne, sent + 1000));
}

TEST_F(SmallInbox, TakesAPieceThatIsLargerThanTheInbox) {
  hub_.start();
  ASSERT_TRUE(offer(piece_of(kOne, 0, std::string(50'000, 'x'))));
  ASSERT_TRUE(worker_->wait_acknowledged(kOne, 50'000));
}

TEST_F(SmallInbox, CallsAWorkerAlsoForAPieceThatIsLargerThanTheInbox) {
  hub_.start();
  store_.hold();
  ASSERT_TRUE(offer(piece_of(kOne, 0, "a\n")));
  const store::LogPiece large = piece_of(kOne, 2, std::string(50'000, 'x'));
  ASSERT_FALSE(offer(large)) << "it goes alone";
  store_.let_go();
  ASSERT_TRUE(worker_->wait_room(1));
  ASSERT_TRUE(offer(large));
  ASSERT_TRUE(worker_->wait_acknowledged(kOne, 50'002));
}

TEST_F(LogHubTest, TriesAgainWhenTheDiskWasFull) {
  hub_.start();
  store_.fail_with(absl::ResourceExhaustedError("no space left"));
  ASSERT_TRUE(offer(piece_of(kOne, 0, "a\n")));
  ASSERT_TRUE(store_.wait_arrivals(1));
  hub_.tick();
  ASSERT_TRUE(store_.wait_arrivals(2));
  EXPECT_EQ(worker_->acknowledged_offset(kOne), 0);
  store_.fail_with(absl::OkStatus());
  hub_.tick();
  ASSERT_TRUE(worker_->wait_acknowledged(kOne, 2));
  EXPECT_EQ(store::read_all(memory_, kOne), "a\n");
}

TEST_F(LogHubTest, ExpiresOldOutputNowAndThen) {
  hub_.start();
  ASSERT_TRUE(offer(ended(piece_of(kOne, 0, "a\n"))));
  ASSERT_TRUE(worker_->wait_acknowledged(kOne, 2));
  clock_.advance(std::chrono::hours(24 * 30));
  hub_.tick();
  // A second append comes after the tick on the hub's thread, or at its next turn: then once more.
  ASSERT_TRUE(offer(piece_of(kTwo, 0, "b\n")));
  ASSERT_TRUE(worker_->wait_acknowledged(kTwo, 2));
  ASSERT_TRUE(offer(piece_of(kTwo, 2, "b\n")));
  ASSERT_TRUE(worker_->wait_acknowledged(kTwo, 4));
  EXPECT_FALSE(memory_.extent(kOne).exists);
}

TEST_F(LogHubTest, ExpiresByTheClockOfRetentionAndNotByTheWallClock) {
  store::HandClock retention;
  LogHub hub(
      store_, [this](JobId job) { return end_of(job); }, clock_, {}, &retention);
  hub.start();
  const auto print = [&](ExecutionId execution, int64_t offset) {
    std::vector<store::LogPiece> pieces{piece_of(execution, offset, "a\n")};
    ASSERT_TRUE(hub.offer(worker_, pieces).value());
    ASSERT_TRUE(worker_->wait_acknowledged(execution, offset + 2));
  };
  const auto sweep = [&] {  // a tick is over when something was written after it, and once more
    clock_.advance(std::chrono::hours(24 * 365));
    const int64_t offset = worker_->acknowledged_offset(kTwo);
    hub.tick();
    print(kTwo, offset);
    print(kTwo, offset + 2);
  };
  print(kOne, 0);
  sweep();
  EXPECT_TRUE(memory_.extent(kOne).exists);
  retention.advance(std::chrono::hours(24 * 365));
  sweep();
  EXPECT_FALSE(memory_.extent(kOne).exists);
}

std::vector<std::string> lines_of(const LogPage& page) {
  std::vector<std::string> out;
  for (const LogChunk& chunk : page.chunks) {
    for_each_entry(chunk, [&](const LogEntry& e) {
      out.push_back(std::to_string(e.execution.number) + "/" + std::to_string(e.sequence) + " " + std::string(e.line));
    });
  }
  return out;
}

TEST_F(LogHubTest, PagesCountEntriesOverAllExecutions) {
  ASSERT_TRUE(memory_.append({ended(piece_of(kOne, 0, "a\nb\nc\n")), ended(piece_of(kTwo, 0, "d\ne"))}).ok());
  end_ = {.finished = true, .last_execution = 2, .finished_at = clock_.now().wall};
  using Lines = std::vector<std::string>;
  const LogPage all = hub_.get_logs({.job = kJob}).value();
  EXPECT_EQ(lines_of(all), (Lines{"1/0 a", "1/1 b", "1/2 c", "2/0 d", "2/1 e"}));
  EXPECT_TRUE(all.complete && !all.more);
  const LogPage middle = hub_.get_logs({.job = kJob, .limit = 2, .offset = 2}).value();
  EXPECT_EQ(lines_of(middle), (Lines{"1/2 c", "2/0 d"}));
  EXPECT_TRUE(middle.more && !middle.complete);
  EXPECT_EQ(lines_of(hub_.get_logs({.job = kJob, .offset = 4}).value()), (Lines{"2/1 e"}));
  EXPECT_EQ(lines_of(hub_.get_logs({.job = kJob, .offset = 9}).value()), Lines{});
  EXPECT_EQ(lines_of(hub_.get_logs({.job = kJob, .execution = 2, .limit = 1}).value()), (Lines{"2/0 d"}));
  const LogPage three = hub_.get_logs({.job = kJob, .limit = 3}).value();
  EXPECT_TRUE(three.more) << "the second execution follows";
}

TEST_F(LogHubTest, APageIsNotCompleteWhileAnEarlierExecutionHasNotEnded) {
  ASSERT_TRUE(memory_.append({piece_of(kOne, 0, "a\n"), ended(piece_of(kTwo, 0, "b\n"))}).ok());
  end_ = {.finished = true, .last_execution = 2, .finished_at = clock_.now().wall};
  EXPECT_FALSE(hub_.get_logs({.job = kJob})->complete);
  ASSERT_TRUE(memory_.append({ended(piece_of(kOne, 2, "c\n"))}).ok());
  EXPECT_TRUE(hub_.get_logs({.job = kJob})->complete);
}

TEST_F(LogHubTest, APageIsNotCompleteWhileTheLastOutputIsMissing) {
  ASSERT_TRUE(memory_.append({piece_of(kOne, 0, "a\n")}).ok());
  EXPECT_FALSE(hub_.get_logs({.job = kJob})->complete);
  end_ = {.finished = true, .last_execution = 1, .finished_at = clock_.now().wall};
  EXPECT_FALSE(hub_.get_logs({.job = kJob})->complete);
  clock_.advance(61s);
  EXPECT_TRUE(hub_.get_logs({.job = kJob})->complete) << "it will not come any more";
}

TEST_F(LogHubTest, APageTellsOfOutputThatIsLostAndIsNotComplete) {
  // The worker was gone before it could send the rest; and a rest that is known to be missing never came.
  store::LogPiece lost = piece_of(kOne, 2, "");
  lost.lost = store::kLostUnknown;
  lost.end = true;
  ASSERT_TRUE(memory_.append({piece_of(kOne, 0, "a\n"), lost, piece_of(kTwo, 0, "b\n")}).ok());
  end_ = {.finished = true, .last_execution = 2, .printed = {{2, 10}}, .finished_at = clock_.now().wall};
  const LogPage early = hub_.get_logs({.job = kJob}).value();
  EXPECT_FALSE(early.complete);
  clock_.advance(61s);
  const LogPage page = hub_.get_logs({.job = kJob}).value();
  EXPECT_FALSE(page.complete);
  EXPECT_FALSE(page.more);
  std::vector<int64_t> gaps;
  for (const LogChunk& chunk : page.chunks) {
    if (!chunk.gap) continue;
    EXPECT_EQ(chunk.gap->reason, kLost);
    gaps.push_back(chunk.gap->bytes);
  }
  EXPECT_EQ(gaps, (std::vector<int64_t>{0, 8}));
}

TEST_F(LogHubTest, APageOfALogThatHasExpiredSaysSoAndIsNotComplete) {
  end_ = {.finished = true, .last_execution = 2, .printed = {{1, 1000}, {2, 4}}, .finished_at = clock_.now().wall};
  ASSERT_TRUE(memory_.append({ended(piece_of(kTwo, 0, "d\ne\n"))}).ok());
  EXPECT_FALSE(hub_.get_logs({.job = kJob})->expired) << "it may still be on its way";
  clock_.advance(61s);
  const LogPage page = hub_.get_logs({.job = kJob}).value();
  EXPECT_TRUE(page.expired);
  EXPECT_FALSE(page.complete);
  EXPECT_FALSE(page.more);
  ASSERT_EQ(page.chunks.size(), 2u);
  EXPECT_EQ(page.chunks[0].gap->bytes, 1000);
  EXPECT_EQ(page.chunks[0].gap->reason, kExpired);
  EXPECT_TRUE(hub_.get_logs({.job = kJob, .execution = 2})->complete) << "of that one everything is there";
  end_ = {.finished = true, .last_execution = 1, .printed = {{1, 0}}, .finished_at = end_.finished_at};
  EXPECT_FALSE(hub_.get_logs({.job = JobId{8}})->expired) << "it printed nothing";
}

TEST_F(LogHubTest, NothingIsLateWhileItCannotBeWritten) {
  hub_.start();
  store_.fail_with(absl::ResourceExhaustedError("no room"));
  std::vector<store::LogPiece> pieces{ended(piece_of(kOne, 0, "a\n"))};
  ASSERT_TRUE(hub_.offer(worker_, pieces).value());
  ASSERT_TRUE(store_.wait_arrivals(1));
  while (!hub_.stats().is_stuck) std::this_thread::yield();
  Reader reader(hub_, {.job = kJob});
  finished(1);
  end_.printed = {{1, 2}};
  clock_.advance(10min);
  hub_.tick();
  EXPECT_EQ(reader.step(), Subscription::Next::Wait);
  EXPECT_FALSE(hub_.get_logs({.job = kJob})->complete);
  EXPECT_FALSE(hub_.get_logs({.job = kJob})->expired);
  store_.fail_with(absl::OkStatus());
  hub_.tick();
  ASSERT_TRUE(worker_->wait_acknowledged(kOne, 2));
  EXPECT_TRUE(hub_.get_logs({.job = kJob})->complete);
  ASSERT_TRUE(reader.read_to_close());
  EXPECT_EQ(reader.text, "a\n");
  EXPECT_TRUE(reader.gaps.empty());
}

TEST_F(LogHubTest, ClearsOnlyFinishedJobs) {
  ASSERT_TRUE(memory_.append({ended(piece_of(kOne, 0, "abc\n"))}).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(hub_.clear(kJob).status()));
  finished(1);
  EXPECT_EQ(hub_.clear(kJob).value(), 4);
  EXPECT_FALSE(memory_.extent(kOne).exists);
}

TEST_F(LogHubTest, ClearingEndsItsSubscriptionsAtOnce) {
  ASSERT_TRUE(memory_.append({piece_of(kOne, 0, "abc\n")}).ok());  // its end has not come yet
  Reader reader(hub_, {.job = kJob, .follow = true});
  ASSERT_TRUE(reader.read_bytes(4));
  finished(1);
  EXPECT_EQ(reader.step(), Subscription::Next::Wait) << "the rest may still come";
  ASSERT_TRUE(hub_.clear(kJob).ok());
  ASSERT_TRUE(reader.read_to_close()) << "without waiting until it is given up";
  EXPECT_TRUE(reader.status().ok());
  ASSERT_EQ(reader.gaps.size(), 1u);
  EXPECT_EQ(reader.gaps[0].reason, kCleared);
}

TEST_F(LogHubTest, AnUnknownJobIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(hub_.subscribe({.job = JobId{404}}, [] {}).status()));
  EXPECT_TRUE(absl::IsNotFound(hub_.get_logs({.job = JobId{404}}).status()));
  EXPECT_TRUE(absl::IsNotFound(hub_.clear(JobId{404}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(hub_.subscribe({.job = kJob, .from_offset = 5}, [] {}).status()));
  EXPECT_EQ(hub_.stats().subscribers, 0u);
}

}  // namespace
}  // namespace hodei::server::log_hub_test
