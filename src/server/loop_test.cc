// The loop's thread: what is posted is decided there, and what waits is bounded.
#include "src/server/loop.h"

#include <future>
#include <latch>

#include "src/server/loop_fixture.h"

namespace hodei::server::loop_test {
namespace {

constexpr auto kTestDeadline = std::chrono::seconds(20);

// Holds the loop's thread in its first commit until the test opens the gate.
class GatedStore final : public store::Store {
 public:
  absl::StatusOr<store::Epoch> new_epoch() override { return memory.new_epoch(); }
  absl::StatusOr<store::Epoch> epoch() override { return memory.epoch(); }
  absl::Status commit(const core::Writes& writes, store::Epoch epoch, store::BatchNo batch) override {
    if (!std::exchange(passed_, true)) {
      entered.count_down();
      open.wait();
    }
    return memory.commit(writes, epoch, batch);
  }
  absl::StatusOr<store::BatchNo> last_batch() override { return memory.last_batch(); }
  absl::Status load(const store::LoadVisitor& visit) override { return memory.load(visit); }

  store::MemoryStore memory;
  std::latch entered{1};
  std::latch open{1};

 private:
  bool passed_ = false;
};

class NoOutlet final : public Outlet {
 public:
  void carry_out(const core::Turn&, store::Epoch) override {}
  void forget_streams(const std::string&) override {}
};

class LoopTest : public ::testing::Test {
 protected:
  absl::StatusOr<core::Reply> ask(Loop& loop, core::Command command) {
    std::promise<absl::StatusOr<core::Reply>> reply;
    std::future<absl::StatusOr<core::Reply>> answer = reply.get_future();
    loop.post(std::move(command), [&](absl::StatusOr<core::Reply> r) { reply.set_value(std::move(r)); });
    EXPECT_EQ(answer.wait_for(kTestDeadline), std::future_status::ready);
    return answer.get();
  }

  SystemClock clock_;
  NoOutlet outlet_;
  Heartbeats beats_{clock_};
};

TEST_F(LoopTest, AnswersWhatIsPostedFromAnyThread) {
  store::MemoryStore memory;
  LedStore led(memory, clock_);
  LoopCore core(led.tenure, clock_, outlet_, beats_);
  ASSERT_TRUE(core.take_over().ok());
  Loop loop(core, clock_);
  loop.start();
  std::vector<std::thread> clients;
  std::atomic<int> good = 0;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      for (int j = 0; j < 50; ++j) good += ask(loop, core::Submit{{job_order()}}).ok();
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(good, 200);
  EXPECT_EQ(memory.tables().hot.size(), 200u);
  EXPECT_TRUE(loop.health().loaded);
  EXPECT_TRUE(loop.health().trouble.ok());
  loop.stop();
}

TEST_F(LoopTest, RefusesBeforeItsStartAndAfterItsEnd) {
  store::MemoryStore memory;
  LedStore led(memory, clock_);
  LoopCore core(led.tenure, clock_, outlet_, beats_);
  ASSERT_TRUE(core.take_over().ok());
  Loop loop(core, clock_);
  EXPECT_TRUE(absl::IsUnavailable(ask(loop, core::Submit{{job_order()}}).status()));
  loop.start();
  EXPECT_TRUE(ask(loop, core::Submit{{job_order()}}).ok());
  loop.stop();
  EXPECT_TRUE(absl::IsUnavailable(ask(loop, core::Submit{{job_order()}}).status()));
}

TEST_F(LoopTest, TellsClientsToComeBackWhenTooManyWaitButNeverWorkers) {
  GatedStore gated;
  LedStore led(gated, clock_);
  LoopCore core(led.tenure, clock_, outlet_, beats_);
  ASSERT_TRUE(core.take_over().ok());
  Loop loop(core, clock_);
  loop.start();
  std::atomic<int> answered = 0;
  std::atomic<int> refused = 0;
  const ReplyTo count = [&](const absl::StatusOr<core::Reply>& reply) {
    ++answered;
    refused += absl::IsResourceExhausted(reply.status());
  };
  loop.post_bounded(core::Submit{{job_order()}}, count);
  gated.entered.wait();
  for (size_t i = 0; i < Loop::kMaxWaiting; ++i) loop.post_bounded(core::Question{core::DescribeSystem{}}, count);
  EXPECT_EQ(answered, 0);
  loop.post_bounded(core::Submit{{job_order()}}, count);
  EXPECT_EQ(refused, 1) << "at once, while the loop is busy";
  std::promise<void> worker_answered;
  loop.post(core::Heartbeat{WorkerId("w1"), 1}, [&](const auto&) { worker_answered.set_value(); });
  EXPECT_EQ(refused, 1);
  gated.open.count_down();
  EXPECT_EQ(worker_answered.get_future().wait_for(kTestDeadline), std::future_status::ready);
  loop.stop();
  EXPECT_EQ(answered, static_cast<int>(Loop::kMaxWaiting) + 2);
}

TEST_F(LoopTest, ATurnTakesBatchesByTheirJobsAndNotByTheirNumber) {
  GatedStore gated;
  LedStore led(gated, clock_);
  LoopCore core(led.tenure, clock_, outlet_, beats_);
  ASSERT_TRUE(core.take_over().ok());
  Loop loop(core, clock_);
  loop.start();
  loop.post(core::Submit{{job_order()}}, {});
  gated.entered.wait();
  std::atomic<int> answered = 0;
  std::vector<uint64_t> batch_at;  // the loop's thread only, then this one
  for (int i = 0; i < 6; ++i) {
    core::Submit batch;
    for (size_t n = 0; n < Loop::kMaxPerTurn / 2; ++n) batch.jobs.push_back(job_order());
    loop.post(std::move(batch), [&](const auto&) {
      batch_at.push_back(core.tenure().commits());
      ++answered;
    });
  }
  gated.open.count_down();
  ASSERT_TRUE(ask(loop, core::Question{core::DescribeSystem{}}).ok());
  loop.stop();
  EXPECT_EQ(answered, 6);
  for (size_t i = 2; i < batch_at.size(); ++i) EXPECT_GT(batch_at[i], batch_at[i - 2]) << "three batches in one turn";
}

TEST_F(LoopTest, ClientsAreToldToComeBackWhenTheJobsThatWaitNeedTooMuchMemory) {
  GatedStore gated;
  LedStore led(gated, clock_);
  LoopCore core(led.tenure, clock_, outlet_, beats_);
  ASSERT_TRUE(core.take_over().ok());
  Loop loop(core, clock_);
  loop.start();
  loop.post(core::Submit{{job_order()}}, {});
  gated.entered.wait();
  core::NewJob large = job_order();
  large.spec->bytes.resize(1 << 20);
  core::Submit batch;
  batch.jobs.assign(Loop::kMaxWaitingBytes >> 21, large);  // all with the same bytes: half of the limit
  int refused = 0;
  const ReplyTo count = [&](const absl::StatusOr<core::Reply>& reply) {
    refused += absl::IsResourceExhausted(reply.status());
  };
  loop.post_bounded(batch, count);
  EXPECT_EQ(refused, 0);
  loop.post_bounded(batch, count);
  EXPECT_EQ(refused, 1);
  gated.open.count_down();
  loop.stop();
}

TEST_F(LoopTest, AnswersWhatStillWaitsWhenItStops) {
  GatedStore gated;
  LedStore led(gated, clock_);
  LoopCore core(led.tenure, clock_, outlet_, beats_);
  ASSERT_TRUE(core.take_over().ok());
  Loop loop(core, clock_);
  loop.start();
  loop.post(core::Submit{{job_order()}}, {});
  gated.entered.wait();
  std::promise<absl::Status> reply;
  loop.post(core::Submit{{job_order()}}, [&](const absl::StatusOr<core::Reply>& r) { reply.set_value(r.status()); });
  std::thread stopper([&] { loop.stop(); });
  // The stop must come before the commit is let through, else the second command still gets a turn. It has come when a
  // question is refused on the spot.
  std::atomic<bool> stopping = false;
  while (!stopping) {
    loop.post(core::Question{core::DescribeSystem{}}, [&, caller = std::this_thread::get_id()](const auto&) {
      if (std::this_thread::get_id() == caller) stopping = true;
    });
    std::this_thread::yield();
  }
  gated.open.count_down();
  stopper.join();
  EXPECT_TRUE(absl::IsUnavailable(reply.get_future().get()));
}

}  // namespace
}  // namespace hodei::server::loop_test
