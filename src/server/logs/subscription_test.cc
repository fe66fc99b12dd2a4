// The way out: history and live output for every kind of reader, over the memory store and over real segments.
#include "src/server/logs/subscription.h"

#include <stdlib.h>

#include <filesystem>

#include "gmock/gmock.h"
#include "src/server/logs/log_hub_fixture.h"
#include "src/store/segments/segment_log_store.h"

namespace hodei::server::subscription_test {
namespace {

using store::piece_of;
using testing::ElementsAre;
using testing::IsEmpty;
using Next = Subscription::Next;

constexpr JobId kJob{7};
constexpr ExecutionId kOne{kJob, 1};
constexpr ExecutionId kTwo{kJob, 2};

class Subscriptions : public testing::TestWithParam<const char*> {
 protected:
  explicit Subscriptions(LogHubLimits limits = {}) : limits_(limits) {
    if (GetParam() == std::string("memory")) {
      store_ = std::make_unique<store::MemoryLogStore>(&clock_);
    } else {
      char name[] = "/tmp/hodei-hub-XXXXXX";
      folder_ = ::mkdtemp(name);
      store_ = std::move(store::SegmentLogStore::open(folder_, {.segment_blocks = 30, .clock = &clock_})).value();
    }
    hub_ = std::make_unique<LogHub>(
        *store_, [this](JobId job) { return end_of(job); }, clock_, limits_);
    hub_->start();
  }
  ~Subscriptions() override {
    hub_.reset();
    store_.reset();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  absl::StatusOr<std::optional<JobEnd>> end_of(JobId) {
    if (while_asked_) while_asked_();
    const std::lock_guard lock(end_mutex_);
    return std::optional<JobEnd>(end_);
  }
  // The worker sends text; returns once it is durable and published.
  void print(ExecutionId execution, const std::string& text, bool end = false) {
    store::LogPiece piece = piece_of(execution, printed_[execution], text);
    piece.end = end;
    printed_[execution] += static_cast<int64_t>(text.size());
    std::vector<store::LogPiece> pieces{std::move(piece)};
    ASSERT_TRUE(hub_->offer(worker_, pieces).value());
    ASSERT_TRUE(worker_->wait_acknowledged(execution, printed_[execution]));
  }
  void finish(uint32_t last_execution) {
    {
      const std::lock_guard lock(end_mutex_);
      end_.finished = true;
      end_.last_execution = last_execution;
      end_.finished_at = clock_.now().wall;
    }
    hub_->job_finished(kJob, last_execution);
  }

  const LogHubLimits limits_;
  store::HandClock clock_;
  std::string folder_;
  std::unique_ptr<store::NumberedLogStore> store_;
  std::mutex end_mutex_;
  JobEnd end_;
  std::function<void()> while_asked_;
  std::map<ExecutionId, int64_t> printed_;
  std::shared_ptr<FakeWorker> worker_ = std::make_shared<FakeWorker>();
  std::unique_ptr<LogHub> hub_;
};

const auto kStores = testing::Values("memory", "segments");
const auto kStoreName = [](const auto& kind) { return std::string(kind.param); };
INSTANTIATE_TEST_SUITE_P(Stores, Subscriptions, kStores, kStoreName);

TEST_P(Subscriptions, GetHistoryThenLiveWithoutGapOrDuplicate) {
  std::string all;
  for (int i = 0; i < 100; ++i) {
    print(kOne, "line " + std::to_string(i) + "\n");
    all += "line " + std::to_string(i) + "\n";
  }
  std::vector<std::unique_ptr<Reader>> readers;
  for (int i = 100; i < 300; ++i) {
    if (i % 20 == 0) readers.push_back(std::make_unique<Reader>(*hub_, SubscribeRequest{.job = kJob}));
    print(kOne, "line " + std::to_string(i) + "\n", i == 299);
    all += "line " + std::to_string(i) + "\n";
    if (i % 3 == 0) readers.front()->step();
  }
  finish(1);
  for (const auto& reader : readers) {
    ASSERT_TRUE(reader->read_to_close());
    EXPECT_EQ(reader->text, all);
    EXPECT_TRUE(reader->in_order);
    EXPECT_EQ(reader->next_line, 300);
    EXPECT_THAT(reader->gaps, IsEmpty());
    EXPECT_THAT(reader->ends, ElementsAre(1));
    EXPECT_TRUE(reader->status().ok());
  }
}

TEST_P(Subscriptions, KeepUpWithAWriterOnAnotherThread) {
  constexpr int kPieces = 500;
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int r = 0; r < 3; ++r) {
    threads.emplace_back([&] {
      Reader reader(*hub_, {.job = kJob});
      const bool closed = reader.read_to_close();
      right += closed && reader.in_order && reader.gaps.empty() && reader.text.size() == kPieces * 10;
    });
  }
  for (int i = 0; i < kPieces; ++i) {
    store::LogPiece piece = piece_of(kOne, i * 10, "123456789\n");
    piece.end = i + 1 == kPieces;
    std::vector<store::LogPiece> pieces{piece, piece};  // everything twice
    ASSERT_TRUE(hub_->offer(worker_, pieces).value());
  }
  finish(1);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 3);
}

TEST_P(Subscriptions, CloseAfterTheEndMarkerNotAfterTheJobsState) {
  Reader reader(*hub_, {.job = kJob});
  print(kOne, "a\n");
  finish(1);
  EXPECT_EQ(reader.step(), Next::Chunk);
  EXPECT_EQ(reader.step(), Next::Wait);
  print(kOne, "b\n", true);
  ASSERT_TRUE(reader.read_to_close());
  EXPECT_EQ(reader.text, "a\nb\n");
}

TEST_P(Subscriptions, WaitForTheJobsEndAfterAnEndMarker) {
  Reader reader(*hub_, {.job = kJob});
  print(kOne, "a\n", true);
  EXPECT_EQ(reader.step(), Next::Chunk);
  EXPECT_EQ(reader.step(), Next::Wait) << "it may be tried again";
  print(kTwo, "b\n", true);
  finish(2);
  ASSERT_TRUE(reader.read_to_close());
  EXPECT_EQ(reader.text, "a\nb\n");
  EXPECT_THAT(reader.ends, ElementsAre(1, 2));
}

TEST_P(Subscriptions, OfOneExecutionCloseAtItsEndAndStartAtAnOffset) {
  print(kOne, "a\nb\nc\n", true);
  print(kTwo, "x\n");
  Reader reader(*hub_, {.job = kJob, .execution = 1, .from_offset = 2});
  ASSERT_TRUE(reader.read_to_close());
  EXPECT_EQ(reader.text, "b\nc\n");
  EXPECT_EQ(reader.next_line, 3);
  Reader at_end(*hub_, {.job = kJob, .execution = 1, .from_offset = 6});
  ASSERT_TRUE(at_end.read_to_close());
  EXPECT_EQ(at_end.text, "");
}

TEST_P(Subscriptions, CloseWithoutAMarkerWhenAllThatWasPrintedIsRead) {
  Reader reader(*hub_, {.job = kJob});
  print(kOne, "a\n");
  hub_->execution_ended(kOne, 4);
  finish(1);
  EXPECT_EQ(reader.step(), Next::Chunk);
  EXPECT_EQ(reader.step(), Next::Wait) << "two bytes are still to come";
  print(kOne, "b\n");
  ASSERT_TRUE(reader.read_to_close());
  EXPECT_EQ(reader.text, "a\nb\n");
  EXPECT_THAT(reader.ends, ElementsAre(1));
}

TEST_P(Subscriptions, DoNotWaitForExecutionsThatPrintedNothing) {
  Reader live(*hub_, {.job = kJob});
  hub_->execution_ended(kOne, 0);
  EXPECT_EQ(live.step(), Next::Wait) << "the job goes on";
  print(kTwo, "b\n", true);
  hub_->execution_ended({kJob, 3}, 0);
  {
    const std::lock_guard lock(end_mutex_);
    end_.printed = {{1, 0}, {2, 2}, {3, 0}};
  }
  finish(3);
  Reader late(*hub_, {.job = kJob});
  Reader silent(*hub_, {.job = kJob, .execution = 3});
  for (Reader* reader : {&live, &late, &silent}) {
    ASSERT_TRUE(reader->read_to_close());
    EXPECT_EQ(reader->text, reader == &silent ? "" : "b\n");
    EXPECT_THAT(reader->gaps, IsEmpty());
  }
  EXPECT_TRUE(hub_->get_logs({.job = kJob})->complete);
}

TEST_P(Subscriptions, OfAJobWithoutAnyExecutionCloseAtOnce) {
  finish(0);
  Reader reader(*hub_, {.job = kJob});
  EXPECT_EQ(reader.step(), Next::Closed);
  Reader one(*hub_, {.job = kJob, .execution = 1});
  EXPECT_EQ(one.step(), Next::Closed);
}

TEST_P(Subscriptions, SeeAnEndThatComesWhileTheyAreMade) {
  while_asked_ = [this] { hub_->job_finished(kJob, 0); };  // committed right after the question was answered
  Reader reader(*hub_, {.job = kJob});
  EXPECT_EQ(reader.step(), Next::Closed);
}

TEST_P(Subscriptions, OnlyForWhatIsThereNow) {
  print(kOne, "a\n");
  print(kTwo, "b\n");
  Reader reader(*hub_, {.job = kJob, .follow = false});
  ASSERT_TRUE(reader.read_to_close());
  EXPECT_EQ(reader.text, "a\nb\n");
}

TEST_P(Subscriptions, AreToldThatTheRestOfAnExecutionIsLost) {
  Reader reader(*hub_, {.job = kJob});
  print(kOne, "a\n");
  hub_->execution_lost(kOne);
  ASSERT_TRUE(reader.read_bytes(2));
  print(kTwo, "b\n", true);
  finish(2);
  ASSERT_TRUE(reader.read_to_close());
  EXPECT_EQ(reader.text, "a\nb\n");
  ASSERT_EQ(reader.gaps.size(), 1u);
  EXPECT_EQ(reader.gaps[0].reason, kLost);
  EXPECT_THAT(reader.ends, ElementsAre(1, 2));
}

TEST_P(Subscriptions, AreToldOfBytesThatTheWorkerDropped) {
  Reader reader(*hub_, {.job = kJob});
  print(kOne, "a\n");
  printed_[kOne] += 50;
  print(kOne, "b\n", true);
  finish(1);
  ASSERT_TRUE(reader.read_to_close());
  ASSERT_EQ(reader.gaps.size(), 1u);
  EXPECT_EQ(reader.gaps[0].bytes, 50);
  EXPECT_EQ(reader.gaps[0].reason, kDropped);
}

TEST_P(Subscriptions, BehindWhatTheWorkerDroppedAreNotToldOfItAgain) {
  print(kOne, "a\n");
  std::vector<store::LogPiece> end{{.execution = kOne, .offset = 102, .lost = 100, .end = true}};
  ASSERT_TRUE(hub_->offer(worker_, end).value());
  ASSERT_TRUE(worker_->wait_acknowledged(kOne, 102));
  for (const int64_t from : {2, 52, 102}) {
    Reader reader(*hub_, {.job = kJob, .execution = 1, .from_offset = from});
    ASSERT_TRUE(reader.read_to_close());
    int64_t missing = 0;
    for (const LogGap& gap : reader.gaps) missing += gap.bytes;
    EXPECT_EQ(missing, 102 - from);
  }
}

TEST_P(Subscriptions, GiveUpOnOutputThatNeverComes) {
  print(kOne, "a\n");
  Reader reader(*hub_, {.job = kJob});
  finish(2);
  ASSERT_TRUE(reader.read_bytes(2));
  EXPECT_EQ(reader.step(), Next::Wait);
  clock_.advance(limits_.end_grace);
  hub_->tick();
  ASSERT_TRUE(reader.read_to_close());
  EXPECT_EQ(reader.gaps.size(), 2u) << "the end of the first execution, all of the second";
}

TEST_P(Subscriptions, WaitForAnEarlierExecutionWhoseOutputIsLate) {
  end_.printed = {{1, 4}};
  print(kTwo, "two\n", true);
  Reader reader(*hub_, {.job = kJob});
  EXPECT_EQ(reader.step(), Next::Wait) << "the first execution printed 4 bytes, which are not here yet";
  print(kOne, "one\n", true);
  finish(2);
  ASSERT_TRUE(reader.read_to_close());
  EXPECT_EQ(reader.text, "one\ntwo\n");
  EXPECT_THAT(reader.gaps, IsEmpty());
}

TEST_P(Subscriptions, DoNotWaitLongerForMissingOutputBecauseLaterExecutionsEnd) {
  end_.printed = {{1, 4, clock_.now().wall}};
  print(kTwo, "two\n", true);
  Reader reader(*hub_, {.job = kJob});
  EXPECT_EQ(reader.step(), Next::Wait);
  clock_.advance(limits_.end_grace / 2);
  hub_->execution_ended(kTwo, 4);
  hub_->tick();
  EXPECT_EQ(reader.step(), Next::Wait);
  clock_.advance(limits_.end_grace / 2);
  hub_->tick();
  ASSERT_TRUE(reader.read_bytes(4));
  EXPECT_EQ(reader.text, "two\n") << "the first one ended a grace time ago, whatever the second does";
}

TEST_P(Subscriptions, DoNotWaitForOutputOfAnExecutionThatEndedLongAgo) {
  end_.printed = {{1, 4, clock_.now().wall}};
  clock_.advance(limits_.end_grace);
  print(kTwo, "two\n", true);
  Reader reader(*hub_, {.job = kJob});
  hub_->tick();
  ASSERT_TRUE(reader.read_bytes(4));
  EXPECT_EQ(reader.text, "two\n");
}

TEST_P(Subscriptions, GoOnWhenTheOutputOfAnEarlierExecutionDoesNotBeginToCome) {
  end_.printed = {{1, 4}};
  print(kTwo, "two\n");
  Reader reader(*hub_, {.job = kJob});
  EXPECT_EQ(reader.step(), Next::Wait);
  clock_.advance(limits_.end_grace);
  hub_->tick();
  ASSERT_TRUE(reader.read_bytes(4)) << "the job has not finished, and its second execution goes on";
  EXPECT_EQ(reader.text, "two\n");
  ASSERT_EQ(reader.gaps.size(), 1u);
  EXPECT_EQ(reader.gaps[0].bytes, 4);
}

TEST_P(Subscriptions, OfALogThatHasExpiredSaySoAtOnce) {
  finish(1);
  clock_.advance(24h);
  Reader reader(*hub_, {.job = kJob});
  EXPECT_EQ(reader.step(), Next::Chunk);
  EXPECT_EQ(reader.step(), Next::Closed);
  ASSERT_EQ(reader.gaps.size(), 1u);
  EXPECT_EQ(reader.gaps[0].reason, kExpired);
}

TEST_P(Subscriptions, AreToldOfAnExecutionThatHasExpiredBetweenOthers) {
  print({kJob, 2}, "second\n", true);
  end_.printed = {{1, 1000}, {2, 7}};
  finish(2);
  clock_.advance(24h);
  for (const bool follow : {true, false}) {
    Reader reader(*hub_, {.job = kJob, .follow = follow});
    ASSERT_TRUE(reader.read_to_close());
    EXPECT_EQ(reader.text, "second\n");
    ASSERT_EQ(reader.gaps.size(), 1u);
    EXPECT_EQ(reader.gaps[0].reason, kExpired);
    EXPECT_EQ(reader.gaps[0].bytes, 1000);
  }
}

TEST_P(Subscriptions, EndWhenTheServerStops) {
  Reader reader(*hub_, {.job = kJob});
  EXPECT_EQ(reader.step(), Next::Wait);
  hub_->stop();
  EXPECT_EQ(reader.step(), Next::Closed);
  EXPECT_TRUE(absl::IsUnavailable(reader.status()));
}

TEST_P(Subscriptions, LeaveNothingBehind) {
  for (int i = 0; i < 100; ++i) {
    Reader reader(*hub_, {.job = kJob});
    EXPECT_EQ(reader.step(), Next::Wait);
  }
  print(kOne, "a\n", true);
  EXPECT_EQ(hub_->stats().subscribers, 0u);
  EXPECT_EQ(hub_->stats().buffered_bytes, 0u) << "nobody watches and the execution has ended";
}

class SmallBuffers : public Subscriptions {
 protected:
  SmallBuffers()
      : Subscriptions({.buffer_bytes = 2000, .all_buffers_bytes = 6000, .chunk_bytes = 300, .max_behind = 5000}) {}
};
INSTANTIATE_TEST_SUITE_P(Stores, SmallBuffers, kStores, kStoreName);

TEST_P(SmallBuffers, AReaderBehindTheBufferIsServedFromTheStore) {
  Reader reader(*hub_, {.job = kJob});
  std::string all;
  for (int i = 0; i < 60; ++i) {
    const std::string line = std::to_string(i) + std::string(60, 'x') + "\n";
    print(kOne, line, i == 59);
    all += line;
  }
  finish(1);
  ASSERT_TRUE(reader.read_to_close());
  EXPECT_EQ(reader.text, all);
  EXPECT_TRUE(reader.in_order);
}

TEST_P(SmallBuffers, AReaderThatFellTooFarBehindGoesOnFromTheLiveEnd) {
  Reader slow(*hub_, {.job = kJob});
  print(kOne, "first\n");
  ASSERT_TRUE(slow.read_bytes(6));
  for (int i = 0; i < 100; ++i) print(kOne, std::string(99, 'x') + "\n");
  EXPECT_EQ(slow.step(), Next::Chunk);
  ASSERT_EQ(slow.gaps.size(), 1u);
  EXPECT_EQ(slow.gaps[0].reason, kSlowSubscriber);
  EXPECT_EQ(slow.gaps[0].bytes, 10'000);
  print(kOne, "last\n", true);
  finish(1);
  ASSERT_TRUE(slow.read_to_close());
  EXPECT_EQ(slow.text, "first\nlast\n");
  EXPECT_EQ(slow.next_line, 102);
}

TEST_P(SmallBuffers, ALongHistoryIsNotFallingBehind) {
  std::string all;
  for (int i = 0; i < 100; ++i) {
    print(kOne, std::string(99, 'x') + "\n");
    all += std::string(99, 'x') + "\n";
  }
  Reader reader(*hub_, {.job = kJob});
  reader.step();
  print(kOne, "last\n", true);
  finish(1);
  ASSERT_TRUE(reader.read_to_close());
  EXPECT_EQ(reader.text, all + "last\n");
  EXPECT_THAT(reader.gaps, IsEmpty());
}

TEST_P(SmallBuffers, NorIsTheHistoryOfTheNextExecution) {
  Reader reader(*hub_, {.job = kJob});
  print(kOne, "first\n");
  ASSERT_TRUE(reader.read_bytes(6));
  EXPECT_EQ(reader.step(), Next::Wait);
  print(kOne, "last\n", true);
  for (int i = 0; i < 100; ++i) print(kTwo, std::string(99, 'x') + "\n", i == 99);
  finish(2);
  ASSERT_TRUE(reader.read_to_close());
  EXPECT_EQ(reader.text.size(), 11u + 10'000);
  EXPECT_THAT(reader.gaps, IsEmpty());
}

TEST_P(SmallBuffers, StayBelowTheirLimitsWhateverIsPrinted) {
  Reader never_reads(*hub_, {.job = kJob});
  for (uint64_t job = 1; job <= 20; ++job) {
    for (int i = 0; i < 10; ++i) print({JobId{job}, 1}, std::string(500, 'x') + "\n");
    EXPECT_LE(hub_->stats().buffered_bytes, 6000u);
  }
  print(kOne, std::string(5000, 'y') + "\n", true);  // larger than a buffer
  finish(1);
  Reader reader(*hub_, {.job = kJob});
  ASSERT_TRUE(reader.read_to_close());
  EXPECT_EQ(reader.text.size(), 10u * 501 + 5001);
}

TEST_P(SmallBuffers, HistoryThatExpiresUnderAReaderIsAGap) {
  if (GetParam() == std::string("memory")) GTEST_SKIP() << "forgets whole executions only";
  for (int i = 0; i < 100; ++i) {
    print(kOne, std::string(99, 'x') + "\n");
    clock_.advance(1s);
  }
  Reader reader(*hub_, {.job = kJob});
  ASSERT_TRUE(reader.read_bytes(100));
  ASSERT_GT(store_->expire({.max_age = 50s}, clock_.now().wall).value(), 0);
  print(kOne, "last\n", true);
  finish(1);
  ASSERT_TRUE(reader.read_to_close());
  ASSERT_EQ(reader.gaps.size(), 1u);
  EXPECT_EQ(reader.gaps[0].reason, kExpired);
  EXPECT_EQ(reader.text.size() + static_cast<size_t>(reader.gaps[0].bytes), 10'005u);
  EXPECT_EQ(reader.next_line, 101);
}

}  // namespace
}  // namespace hodei::server::subscription_test
