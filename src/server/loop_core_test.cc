// One turn: decide, commit, and only then tell; and what happens when the commit does not work.
#include "src/server/loop_core.h"

#include "src/server/loop_fixture.h"

namespace hodei::server::loop_core_test {
namespace {

using store::CommitFault;

class LoopCoreTest : public ::testing::Test {
 protected:
  LoopCoreTest() { EXPECT_TRUE(core_.take_over().ok()); }

  absl::StatusOr<core::Reply> ask(core::Command command) {
    absl::StatusOr<core::Reply> answer = absl::InternalError("no reply came");
    std::vector<Waiting> waiting;
    waiting.push_back({std::move(command), [&](absl::StatusOr<core::Reply> reply) {
                         durable_at_reply_ = store_.durable;
                         answer = std::move(reply);
                       }});
    core_.turn(std::move(waiting));
    return answer;
  }
  absl::StatusOr<core::Reply> submit(const std::string& key = "") { return ask(core::Submit{{job_order(key)}}); }
  void open_worker() {
    core::WorkerInfo info;
    info.id = WorkerId("w1");
    info.capabilities = {"script", "shell"};
    ASSERT_TRUE(ask(core::MakeOtp{hash128("t"), info.id}).ok());
    ASSERT_TRUE(ask(core::RegisterWorker{hash128("t"), {}, hash128("s"), info, "i"}).ok());
    ASSERT_TRUE(ask(core::OpenStream{hash128("s"), "i", 1, {}}).ok());
  }

  SteppedClock clock_;
  WatchedStore store_{clock_};
  RememberingOutlet outlet_{store_};
  Heartbeats beats_{clock_};
  LedStore led_{store_, clock_};
  LoopCore core_{led_.tenure, clock_, outlet_, beats_};
  int durable_at_reply_ = -1;
};

TEST_F(LoopCoreTest, LetsNothingOutBeforeItIsDurable) {
  ASSERT_TRUE(submit().ok());
  EXPECT_EQ(outlet_.durable_at_effects, 1);
  EXPECT_EQ(durable_at_reply_, 1);
  EXPECT_FALSE(outlet_.effects.empty());
}

TEST_F(LoopCoreTest, CommitsAllCommandsOfATurnAsOneBatch) {
  std::vector<Waiting> waiting;
  int replies = 0;
  for (int i = 0; i < 5; ++i) {
    waiting.push_back({core::Submit{{job_order()}}, [&](const auto& reply) { replies += reply.ok(); }});
  }
  core_.turn(std::move(waiting));
  EXPECT_EQ(replies, 5);
  EXPECT_EQ(store_.durable, 1);
  EXPECT_EQ(core_.tenure().commits(), 1u);
}

TEST_F(LoopCoreTest, CommitsNothingForAQuestion) {
  ASSERT_TRUE(ask(core::Question{core::DescribeQueue{}}).ok());
  EXPECT_EQ(store_.durable, 0);
}

TEST_F(LoopCoreTest, AServerThatStopsCountsNobodysSilence) {
  open_worker();
  const JobId job = std::get<core::Submitted>(*submit()).jobs[0].job;
  core_.stop_time();
  EXPECT_EQ(core_.next_wakeup(), kNever);
  for (int i = 0; i < 100; ++i) {
    clock_.advance(900ms);  // less than what counts as a stall of the loop
    ASSERT_TRUE(ask(core::Question{core::DescribeQueue{}}).ok());
  }
  EXPECT_EQ(core_.engine()->modules().jobs.table.find(job)->head->state, core::JobState::Scheduled);
}

TEST_F(LoopCoreTest, TellsNobodyWhenTheCommitFailed) {
  store_.memory.fail_next_commit(CommitFault::LostBefore);
  EXPECT_TRUE(absl::IsUnavailable(submit().status()));
  EXPECT_TRUE(outlet_.effects.empty());
  EXPECT_EQ(outlet_.forgotten, 0) << "while the store is away streams stay open for heartbeats";
  EXPECT_FALSE(core_.trouble().ok());
  core_.turn({});
  EXPECT_EQ(outlet_.forgotten, 1) << "workers must say again what they hold";
}

// A clock that every look moves on, as if each command took so long to decide.
class BusyClock final : public Clock {
 public:
  Now now() const override {
    ++looks_;
    return {{1'800'000'000'000'000}, {1'000'000'000 + looks_ * step.count()}};
  }
  Duration step{0};

 private:
  mutable int64_t looks_ = 0;
};

TEST(LoopCoreBudget, ATurnDecidesWhatItsTimeAllowsAndLeavesTheRestInOrder) {
  BusyClock clock;
  store::MemoryStore store;
  SteppedClock unused;
  WatchedStore watched{unused};
  RememberingOutlet outlet{watched};
  Heartbeats beats(clock);
  LedStore led(store, clock);
  LoopCore core(led.tenure, clock, outlet, beats);
  ASSERT_TRUE(core.take_over().ok());
  clock.step = LoopCore::kTurnBudget / 4;
  std::vector<int> answered;
  std::vector<Waiting> waiting;
  for (int i = 0; i < 10; ++i) {
    waiting.push_back({core::Submit{{job_order()}}, [&answered, i](const auto&) { answered.push_back(i); }});
  }
  int turns = 0;
  for (; !waiting.empty() && turns < 20; ++turns) waiting = core.turn(std::move(waiting));
  EXPECT_GT(turns, 1) << "one turn would have taken longer than its budget";
  EXPECT_LT(turns, 10) << "and several commands fit into one";
  EXPECT_EQ(answered, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_F(LoopCoreTest, ReloadsMemoryFromTheStoreAfterAFailedCommit) {
  ASSERT_TRUE(submit("kept").ok());
  store_.memory.fail_next_commit(CommitFault::LostBefore);
  EXPECT_FALSE(submit("lost").ok());
  const absl::StatusOr<core::Reply> again = submit("lost");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_FALSE(std::get<core::Submitted>(*again).jobs[0].existing);
  EXPECT_EQ(number(std::get<core::Submitted>(*again).jobs[0].job), 2u);
  EXPECT_EQ(core_.engine()->modules().jobs.table.all().size(), 2u);
  EXPECT_TRUE(core_.trouble().ok());
}

TEST_F(LoopCoreTest, FindsOutFromTheStoreThatALostAnswerWasAnAppliedBatch) {
  store_.memory.fail_next_commit(CommitFault::LostAfter);
  EXPECT_TRUE(absl::IsUnavailable(submit("order").status()));
  const absl::StatusOr<core::Reply> again = submit("order");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(std::get<core::Submitted>(*again).jobs[0].existing) << "the retry finds the job of the first try";
  EXPECT_EQ(store_.memory.tables().hot.size(), 1u);
}

TEST_F(LoopCoreTest, AnswersUnavailableUntilTheStoreIsBack) {
  store_.memory.fail_next_commit(CommitFault::LostBefore);
  submit().IgnoreError();
  store_.away = true;
  EXPECT_TRUE(absl::IsUnavailable(submit().status()));
  store_.away = false;
  EXPECT_TRUE(absl::IsUnavailable(submit().status())) << "it does not try again with every command";
  clock_.advance(251ms);
  EXPECT_LE(core_.next_wakeup(), clock_.now().mono);
  EXPECT_TRUE(submit().ok());
}

TEST_F(LoopCoreTest, RemembersAStopThatItCouldNotStore) {
  open_worker();
  store_.memory.fail_next_commit(CommitFault::LostBefore);
  EXPECT_FALSE(ask(core::WorkerStops{WorkerId("w1"), 1, "i"}).ok());
  ASSERT_TRUE(ask(core::Question(core::DescribeQueue{})).ok());
  EXPECT_TRUE(core_.engine()->modules().fleet.workers.all().at(WorkerId("w1"))->record->stopped);
}

TEST_F(LoopCoreTest, RemembersAStopThatItHeardWhileTheStoreWasAway) {
  open_worker();
  store_.memory.fail_next_commit(CommitFault::LostBefore);
  store_.away = true;
  EXPECT_FALSE(submit().ok());
  EXPECT_FALSE(ask(core::WorkerStops{WorkerId("w1"), 1, "i"}).ok());
  store_.away = false;
  clock_.advance(1s);
  ASSERT_TRUE(ask(core::Question(core::DescribeQueue{})).ok());
  EXPECT_TRUE(core_.engine()->modules().fleet.workers.all().at(WorkerId("w1"))->record->stopped);
}

TEST_F(LoopCoreTest, SaysWhatIsFullWhenTheDiskIs) {
  store_.memory.fail_next_commit(CommitFault::DiskFull);
  const absl::Status status = submit().status();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_NE(status.message().find("data folder"), std::string::npos) << status;
  EXPECT_TRUE(submit().ok()) << "it goes on by itself when there is room";
}

TEST_F(LoopCoreTest, EndsWhenAnotherServerHasTheStore) {
  ASSERT_TRUE(store_.memory.new_epoch().ok());
  EXPECT_TRUE(absl::IsUnavailable(submit().status()));
  EXPECT_TRUE(core_.deposed());
  EXPECT_EQ(core_.next_wakeup(), kNever);
  clock_.advance(10s);
  EXPECT_TRUE(absl::IsUnavailable(submit().status())) << "it never takes the store back";
  EXPECT_TRUE(store_.memory.tables().hot.empty());
}

// Its commit failed for another reason, and while it waits to load again, another server takes over.
TEST_F(LoopCoreTest, NeverSeizesTheStoreBackAfterAFailedCommit) {
  const store::Epoch ours = core_.tenure().epoch();
  store_.memory.fail_next_commit(CommitFault::LostBefore);
  EXPECT_FALSE(submit().ok());
  const store::Epoch theirs = store_.memory.new_epoch().value();
  for (int i = 0; i < 3; ++i) {
    clock_.advance(1s);
    EXPECT_FALSE(submit().ok());
  }
  EXPECT_TRUE(core_.deposed());
  EXPECT_EQ(core_.tenure().epoch(), ours);
  EXPECT_EQ(store_.memory.epoch().value(), theirs);
  EXPECT_TRUE(store_.memory.commit({}, theirs, store::BatchNo{1}).ok()) << "the other server goes on undisturbed";
  EXPECT_EQ(outlet_.forgotten, 1) << "workers look for the new leader";
}

TEST_F(LoopCoreTest, LoadsAgainUnderTheTermThatItHas) {
  const store::Epoch epoch = core_.tenure().epoch();
  store_.memory.fail_next_commit(CommitFault::LostBefore);
  EXPECT_FALSE(submit().ok());
  EXPECT_TRUE(submit().ok());
  EXPECT_EQ(store_.memory.epoch().value(), epoch);
}

TEST_F(LoopCoreTest, WhoeverResignsCommitsNoMore) {
  core_.resign();
  EXPECT_FALSE(led_.leadership.leader().value().has_value());
  EXPECT_FALSE(submit().ok());
  EXPECT_EQ(store_.durable, 0);
}

class LoopCoreUnderALease : public ::testing::Test {
 protected:
  static constexpr Duration kLease = 9s;
  LoopCoreUnderALease() { EXPECT_TRUE(core_.take_over().ok()); }

  absl::Status travel_ = absl::OkStatus();
  SteppedClock clock_;
  WatchedStore store_{clock_};
  RememberingOutlet outlet_{store_};
  Heartbeats beats_{clock_};
  LedStore led_{store_, clock_, {.lease = kLease, .on_the_way = [this] { return travel_; }}};
  LoopCore core_{led_.tenure, clock_, outlet_, beats_};
};

TEST_F(LoopCoreUnderALease, RenewsItsTermLongBeforeItRunsOut) {
  const store::Epoch epoch = core_.tenure().epoch();
  const MonoTime end = clock_.now().mono + 10 * kLease;
  for (int turns = 0; clock_.now().mono < end; ++turns) {
    ASSERT_LT(turns, 1000) << "it wakes up too often";
    clock_.advance(std::max(core_.next_wakeup() - clock_.now().mono, Duration(1ms)));
    core_.turn({});
    ASSERT_GT(core_.tenure().term().valid_until(), clock_.now().mono + kLease / 2);
  }
  EXPECT_EQ(core_.tenure().epoch(), epoch);
}

TEST_F(LoopCoreUnderALease, TriesARenewalThatFailedAgain) {
  travel_ = absl::UnavailableError("no way");
  clock_.advance(kLease / 2);
  core_.turn({});
  EXPECT_TRUE(core_.ready()) << "the term is still valid";
  travel_ = absl::OkStatus();
  clock_.advance(core_.next_wakeup() - clock_.now().mono);
  core_.turn({});
  EXPECT_EQ(core_.tenure().term().valid_until(), clock_.now().mono + kLease);
}

TEST_F(LoopCoreUnderALease, DecidesNothingWhileItsTermHasRunOutAndGoesOnWhenItIsRenewed) {
  travel_ = absl::UnavailableError("no way");
  clock_.advance(kLease);
  absl::StatusOr<core::Reply> reply = absl::UnknownError("");
  const auto ask = [&] {
    std::vector<Waiting> commands;
    commands.push_back({core::Question{core::DescribeQueue{}}, [&](absl::StatusOr<core::Reply> r) { reply = r; }});
    core_.turn(std::move(commands));
  };
  ask();
  EXPECT_TRUE(absl::IsUnavailable(reply.status())) << "another server may know better by now";
  EXPECT_GT(core_.next_wakeup(), clock_.now().mono) << "it must not spin";
  travel_ = absl::OkStatus();
  clock_.advance(core_.next_wakeup() - clock_.now().mono);
  ask();
  EXPECT_TRUE(reply.ok()) << reply.status();
}

TEST_F(LoopCoreUnderALease, IsDeposedByARenewalAfterAnotherServerHasBegunATerm) {
  clock_.advance(kLease);
  store::MemoryLeadership other(led_.lease, store_, clock_, {.lease = kLease});
  ASSERT_TRUE(other.campaign("other").ok());
  core_.turn({});
  EXPECT_TRUE(core_.deposed());
  EXPECT_FALSE(core_.ready());
  EXPECT_EQ(outlet_.forgotten, 1);
  EXPECT_EQ(other.leader().value()->address, "other");
}

TEST_F(LoopCoreTest, ExtendsLeasesByTheTimeThatACommitHeldItUp) {
  open_worker();
  store_.commit_takes = 5s;
  ASSERT_TRUE(submit().ok());
  store_.commit_takes = Duration(0);
  const MonoTime seen = core_.engine()->modules().fleet.workers.all().at(WorkerId("w1"))->last_seen;
  ASSERT_TRUE(ask(core::Question{core::DescribeQueue{}}).ok());
  EXPECT_EQ(core_.engine()->modules().fleet.workers.all().at(WorkerId("w1"))->last_seen - seen, Duration(5s))
      << "once, not twice";
}

TEST_F(LoopCoreTest, ExtendsLeasesByTheTimeThatItWasNotLetRun) {
  open_worker();
  const MonoTime seen = core_.engine()->modules().fleet.workers.all().at(WorkerId("w1"))->last_seen;
  clock_.advance(60s);
  ASSERT_TRUE(ask(core::Question{core::DescribeQueue{}}).ok());
  const core::LiveWorker& worker = *core_.engine()->modules().fleet.workers.all().at(WorkerId("w1"));
  EXPECT_GE(worker.last_seen - seen, Duration(58s));
  EXPECT_FALSE(worker.unhealthy);
}

TEST_F(LoopCoreTest, DoesWhatIsDueWithoutAnyCommand) {
  open_worker();
  for (int i = 0; i < 31; ++i) {
    clock_.advance(1s);
    core_.turn({});
  }
  EXPECT_TRUE(core_.engine()->modules().fleet.workers.all().at(WorkerId("w1"))->unhealthy);
}

TEST_F(LoopCoreTest, HasTheSameStateAsAServerThatLoadsItsStore) {
  open_worker();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(submit().ok());
  core::Engine fresh;
  ASSERT_TRUE(store_.memory.load([&](const core::Write& write) { fresh.restore(write); }).ok());
  EXPECT_EQ(fresh.digest(), core_.engine()->digest());
}

}  // namespace
}  // namespace hodei::server::loop_core_test
