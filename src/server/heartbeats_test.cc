// Heartbeats are acknowledged whatever the loop and the store do, and the loop hears of all that were.
#include "src/server/heartbeats.h"

#include "src/server/loop_fixture.h"

namespace hodei::server::heartbeats_test {
namespace {

using store::CommitFault;

core::Heartbeat beat_of(uint64_t stream, int64_t sent_us = 7) {
  return {.worker = WorkerId("w1"), .stream = stream, .sent_us = sent_us};
}

// Of a server whose term does not end by itself.
struct LedHeartbeats : Heartbeats {
  LedHeartbeats() : Heartbeats(clock) { lead_until(kNever); }
  SteppedClock clock;
};

TEST(Heartbeats, CountFromTheHelloToTheEndOfTheStream) {
  LedHeartbeats beats;
  EXPECT_FALSE(beats.take(beat_of(1))) << "no hello yet";
  beats.open(1);
  EXPECT_TRUE(beats.take(beat_of(1)));
  beats.close(1);
  EXPECT_FALSE(beats.take(beat_of(1)));
}

TEST(Heartbeats, TheLoopCollectsTheNewestOfEachStreamOnce) {
  LedHeartbeats beats;
  beats.open(1);
  beats.open(2);
  ASSERT_TRUE(beats.take(beat_of(1, 10)));
  ASSERT_TRUE(beats.take(beat_of(2, 11)));
  ASSERT_TRUE(beats.take(beat_of(1, 12)));
  const std::vector<core::Heartbeat> collected = beats.collect();
  ASSERT_EQ(collected.size(), 2u);
  EXPECT_EQ(collected[0].sent_us, 12);
  EXPECT_TRUE(beats.collect().empty());
  beats.close(1);
  EXPECT_TRUE(beats.collect().empty()) << "the end of a stream is no sign of life";
}

TEST(Heartbeats, OneThatWasAcknowledgedCountsAlsoWhenItsStreamBreaksBehindIt) {
  LedHeartbeats beats;
  beats.open(1);
  ASSERT_TRUE(beats.take(beat_of(1)));
  beats.close(1);
  EXPECT_EQ(beats.collect().size(), 1u);
}

TEST(Heartbeats, AServerThatHasLostItsTermAcknowledgesNone) {
  LedHeartbeats beats;
  beats.open(1);
  beats.lead_until(MonoTime{0});
  EXPECT_FALSE(beats.take(beat_of(1)));
  beats.open(2);
  EXPECT_FALSE(beats.take(beat_of(2)));
}

TEST(Heartbeats, AServerThatNeverHadATermAcknowledgesNone) {
  SteppedClock clock;
  Heartbeats beats(clock);
  beats.open(1);
  EXPECT_FALSE(beats.take(beat_of(1)));
}

TEST(Heartbeats, StopByThemselvesWhenTheTermRunsOutAndGoOnWhenItIsRenewed) {
  SteppedClock clock;
  Heartbeats beats(clock);
  beats.open(1);
  beats.lead_until(clock.now().mono + 10s);
  clock.advance(10s - 1us);
  EXPECT_TRUE(beats.take(beat_of(1)));
  clock.advance(1us);
  EXPECT_FALSE(beats.take(beat_of(1))) << "the loop has done nothing for that";
  beats.lead_until(clock.now().mono + 10s);
  EXPECT_TRUE(beats.take(beat_of(1)));
}

class HeartbeatsAndLoop : public ::testing::Test {
 protected:
  HeartbeatsAndLoop() { EXPECT_TRUE(core_.take_over().ok()); }
  absl::StatusOr<core::Reply> ask(core::Command command) {
    absl::StatusOr<core::Reply> answer = absl::InternalError("no reply came");
    std::vector<Waiting> waiting;
    waiting.push_back({std::move(command), [&](absl::StatusOr<core::Reply> reply) { answer = std::move(reply); }});
    EXPECT_TRUE(core_.turn(std::move(waiting)).empty());
    return answer;
  }
  void open_worker() {
    core::WorkerInfo info;
    info.id = WorkerId("w1");
    info.capabilities = {"script", "shell"};
    ASSERT_TRUE(ask(core::MakeOtp{hash128("t"), info.id}).ok());
    ASSERT_TRUE(ask(core::RegisterWorker{hash128("t"), {}, hash128("s"), info, "i"}).ok());
    open_stream(1);
  }
  void open_stream(uint64_t stream) {
    ASSERT_TRUE(ask(core::OpenStream{hash128("s"), "i", stream, {}}).ok());
    beats_.open(stream);
  }
  const core::LiveWorker& worker() const { return *core_.engine()->modules().fleet.workers.all().at(WorkerId("w1")); }

  SteppedClock clock_;
  WatchedStore store_{clock_};
  RememberingOutlet outlet_{store_};
  Heartbeats beats_{clock_};
  LedStore led_{store_, clock_};
  LoopCore core_{led_.tenure, clock_, outlet_, beats_};
};

TEST_F(HeartbeatsAndLoop, AWorkerWhoseHeartbeatsAreCollectedIsNotSilent) {
  open_worker();
  for (int i = 0; i < 60; ++i) {
    clock_.advance(1s);
    ASSERT_TRUE(beats_.take(beat_of(1)));
    core_.turn({});
  }
  EXPECT_FALSE(worker().unhealthy);
  EXPECT_EQ(worker().last_seen, clock_.now().mono);
}

TEST_F(HeartbeatsAndLoop, TheyComeBeforeTheSweepThatLooksForSilence) {
  open_worker();
  for (int i = 0; i < 44; ++i) {
    clock_.advance(1s);
    core_.turn({});
  }
  ASSERT_TRUE(worker().unhealthy);
  ASSERT_TRUE(beats_.take(beat_of(1)));
  clock_.advance(1s);
  core_.turn({});
  EXPECT_FALSE(worker().unhealthy);
  EXPECT_TRUE(worker().connected);
}

TEST_F(HeartbeatsAndLoop, AreAcknowledgedWhileACommitIsUnderWay) {
  open_worker();
  int acknowledged_in_commit = 0;
  store_.in_commit = [&] { acknowledged_in_commit += beats_.take(beat_of(1)); };
  EXPECT_TRUE(ask(core::Submit{{job_order()}}).ok());
  EXPECT_EQ(acknowledged_in_commit, 1);
}

TEST_F(HeartbeatsAndLoop, AreAcknowledgedWhileTheStoreIsAwayAndStreamsStayOpen) {
  open_worker();
  store_.memory.fail_next_commit(CommitFault::LostBefore);
  store_.away = true;
  EXPECT_FALSE(ask(core::Submit{{job_order()}}).ok());
  for (int i = 0; i < 20; ++i) {
    clock_.advance(1s);
    core_.turn({});
    EXPECT_TRUE(beats_.take(beat_of(1)));
  }
  EXPECT_FALSE(core_.ready());
  EXPECT_EQ(outlet_.forgotten, 0);
  store_.away = false;
  clock_.advance(1s);
  core_.turn({});
  EXPECT_TRUE(core_.ready());
  EXPECT_EQ(outlet_.forgotten, 1) << "now every worker must say what it holds";
}

TEST_F(HeartbeatsAndLoop, AStreamThatATurnDropsIsNotAcknowledgedDuringItsCommit) {
  open_worker();
  bool acknowledged_in_commit = true;
  store_.in_commit = [&] { acknowledged_in_commit = beats_.take(beat_of(1)); };
  std::vector<Waiting> waiting;
  waiting.push_back({core::OpenStream{hash128("s"), "i", 2, {}}, {}});
  waiting.push_back({core::Submit{{job_order()}}, {}});  // so that there is something to commit
  core_.turn(std::move(waiting));
  EXPECT_FALSE(acknowledged_in_commit);
}

// The store is stuck in a commit for longer than the term lasts, so nobody renews it.
TEST(HeartbeatsUnderALease, EndWithTheTermWhileACommitIsUnderWay) {
  SteppedClock clock;
  WatchedStore store(clock);
  RememberingOutlet outlet(store);
  Heartbeats beats(clock);
  LedStore led(store, clock, {.lease = 10s});
  LoopCore core(led.tenure, clock, outlet, beats);
  ASSERT_TRUE(core.take_over().ok());
  beats.open(1);
  bool early = false;
  bool late = true;
  store.in_commit = [&] {
    clock.advance(9s);
    early = beats.take(beat_of(1));
    clock.advance(1s);
    late = beats.take(beat_of(1));
  };
  std::vector<Waiting> waiting;
  waiting.push_back({core::Submit{{job_order()}}, {}});
  core.turn(std::move(waiting));
  EXPECT_TRUE(early);
  EXPECT_FALSE(late);
  core.turn({});
  EXPECT_TRUE(beats.take(beat_of(1))) << "nobody else has begun a term, so this one is renewed";
}

TEST_F(HeartbeatsAndLoop, AnotherServerThatHasTheStoreEndsThem) {
  open_worker();
  ASSERT_TRUE(store_.memory.new_epoch().ok());
  EXPECT_FALSE(ask(core::Submit{{job_order()}}).ok());
  ASSERT_TRUE(core_.deposed());
  EXPECT_FALSE(beats_.take(beat_of(1)));
  EXPECT_EQ(outlet_.forgotten, 1);
}

}  // namespace
}  // namespace hodei::server::heartbeats_test
