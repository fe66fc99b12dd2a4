// Messages to workers are completed beside the loop: one read for many, in order for each stream.
#include "src/server/order_writer.h"

#include <condition_variable>
#include <cstdio>
#include <future>

#include "src/server/loop.h"
#include "src/server/loop_fixture.h"
#include "src/store/conformance/samples.h"
#include "src/store/read_check.h"

namespace hodei::server::order_writer_test {
namespace {

constexpr auto kTestDeadline = std::chrono::seconds(20);

ToWorker order(uint64_t job, std::shared_ptr<const core::SpecRow> spec = nullptr) {
  ToWorker message;
  message.run.push_back({{JobId{job}, 1}, 1, std::move(spec), false});
  return message;
}

class OrderFillerTest : public ::testing::Test {
 protected:
  OrderFillerTest() {
    const store::Epoch epoch = store_.new_epoch().value();
    core::Writes writes;
    for (uint64_t job = 1; job <= 2; ++job) {
      for (core::Write& write : store::entering(store::a_job(job))) writes.push_back(std::move(write));
    }
    EXPECT_TRUE(store_.commit(writes, epoch, store::BatchNo{1}).ok());
  }
  store::MemoryStore store_;
  OrderFiller filler_{store_, [](ExecutionId execution) { return static_cast<int64_t>(70 + execution.number); }};
};

TEST_F(OrderFillerTest, ReadsTheSpecsThatAreMissingAndLeavesTheOthers) {
  const auto own = std::make_shared<core::SpecRow>();
  ToWorker first = order(1);
  ToWorker second = order(2, own);
  filler_.fill({&first, &second});
  ASSERT_NE(first.run.at(0).spec, nullptr);
  EXPECT_EQ(first.run[0].spec->job, JobId{1});
  EXPECT_EQ(second.run.at(0).spec, own);
  EXPECT_FALSE(first.unreadable || second.unreadable);
}

TEST_F(OrderFillerTest, AMessageWithAnOrderThatCannotBeReadIsMarkedAndTheOthersAreNot) {
  ToWorker broken = order(99);
  broken.run.push_back(order(1).run[0]);
  ToWorker good = order(2);
  filler_.fill({&broken, &good});
  EXPECT_TRUE(broken.unreadable);
  EXPECT_TRUE(broken.run.empty());
  EXPECT_FALSE(good.unreadable);
  EXPECT_NE(good.run.at(0).spec, nullptr);
}

TEST_F(OrderFillerTest, LooksUpFromWhereEachLogOfAWelcomeGoesOn) {
  ToWorker message;
  message.welcome.emplace();
  message.welcome->logs = {{{JobId{1}, 3}, LogPosition::kUnknown}, {{JobId{2}, 4}, 5}};
  filler_.fill({&message});
  EXPECT_EQ(message.welcome->logs[0].offset, 73);
  EXPECT_EQ(message.welcome->logs[1].offset, 5) << "this one was known";
}

// Writes what it was given, one message at a time.
class ListedStream final : public OrderStream {
 public:
  // True: the writer must be told.
  bool put(ToWorker message) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(message));
    return !std::exchange(posted_, true);
  }
  std::vector<ToWorker*> take() override {
    const std::lock_guard lock(mutex_);
    EXPECT_FALSE(std::exchange(busy_, true)) << "two threads at one stream";
    next_ = std::move(queue_.front());
    queue_.pop_front();
    return {&next_};
  }
  bool write() override {
    const std::lock_guard lock(mutex_);
    busy_ = false;
    jobs_.push_back(next_.run.at(0).spec == nullptr ? JobId{} : next_.run[0].execution.job);
    changed_.notify_all();
    return posted_ = !queue_.empty();
  }
  bool wait_written(size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kTestDeadline, [&] { return jobs_.size() >= count; });
  }
  std::vector<JobId> jobs() {
    const std::lock_guard lock(mutex_);
    return jobs_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ToWorker> queue_;
  ToWorker next_;
  std::vector<JobId> jobs_;
  bool posted_ = false;
  bool busy_ = false;
};

TEST_F(OrderFillerTest, TheWriterKeepsTheOrderOfEachStream) {
  OrderWriter writer(filler_);
  writer.start();
  constexpr size_t kStreams = 100;
  constexpr size_t kMessages = 50;
  std::vector<std::shared_ptr<ListedStream>> streams;
  for (size_t i = 0; i < kStreams; ++i) streams.push_back(std::make_shared<ListedStream>());
  const auto spec = std::make_shared<core::SpecRow>();
  for (uint64_t job = 1; job <= kMessages; ++job) {
    for (const auto& stream : streams) {
      if (stream->put(order(job, job <= 2 ? nullptr : spec))) writer.post(stream);
    }
  }
  std::vector<JobId> expected;
  for (uint64_t job = 1; job <= kMessages; ++job) expected.push_back(JobId{job});
  for (const auto& stream : streams) {
    ASSERT_TRUE(stream->wait_written(kMessages));
    EXPECT_EQ(stream->jobs(), expected);
  }
  writer.stop();
}

TEST(ReadCheck, AReaderOnTheThreadOfTheLoopAborts) {
  store::MemoryStore memory;
  EXPECT_DEATH(
      {
        store::set_read_check(true);
        const store::NoReads loop_thread;
        memory.job(JobId{1}).IgnoreError();
      },
      "the loop's thread reads the store");
}

class ReadingOutlet final : public Outlet {
 public:
  explicit ReadingOutlet(store::Reader& reader) : reader_(reader) {}
  void carry_out(const core::Turn&, store::Epoch) override { reader_.job(JobId{1}).IgnoreError(); }
  void forget_streams(const std::string&) override {}

 private:
  store::Reader& reader_;
};

// The mark is on the loop's own thread and on no other.
void run_a_loop_that_reads() {
  store::set_read_check(true);
  SystemClock clock;
  store::MemoryStore memory;
  ReadingOutlet outlet(memory);
  Heartbeats beats(clock);
  LedStore led(memory, clock);
  LoopCore core(led.tenure, clock, outlet, beats);
  core.take_over().IgnoreError();
  core.turn({});  // on this thread reads are allowed
  std::fputs("a read beside the loop is fine\n", stderr);
  Loop loop(core, clock);
  loop.start();
  std::promise<void> decided;
  loop.post(core::Question{core::DescribeQueue{}}, [&](const auto&) { decided.set_value(); });
  decided.get_future().wait_for(kTestDeadline);
}

TEST(ReadCheck, TheLoopMarksItsThread) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(run_a_loop_that_reads(), "is fine.*the loop's thread reads the store");
}

}  // namespace
}  // namespace hodei::server::order_writer_test
