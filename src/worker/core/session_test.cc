#include "src/worker/core/session.h"

#include "gtest/gtest.h"

namespace hodei::worker::session_test {
namespace {

const ExecutionId kA{JobId{1}, 1};
const ExecutionId kB{JobId{2}, 1};

Now at(Duration since_boot) { return {WallTime{1'000'000'000 + since_boot.count()}, MonoTime{since_boot.count()}}; }

class SessionTest : public testing::Test {
 protected:
  // All actions of one kind since the last call for any kind: tests ask for what they are about.
  template <class Action>
  std::vector<Action> take() {
    std::vector<Action> out;
    for (SessionAction& action : session.take_actions()) {
      if (auto* found = std::get_if<Action>(&action)) out.push_back(std::move(*found));
    }
    return out;
  }
  void go_online(Duration since_boot = 1s, std::vector<Held> held = {}) {
    session.attached(held, at(since_boot));
    reconnect(since_boot);
  }
  void reconnect(Duration since_boot, std::vector<ExecutionId> unknown = {}) {
    session.stream_opened(at(since_boot));
    session.welcomed(unknown, at(since_boot));
  }
  void run(ExecutionId id) {
    session.ordered({.execution = id});
    session.started(id, WallTime{77}, 100);
  }
  static Exit success(ExecutionId id) { return {.execution = id, .outcome = Outcome::Succeeded}; }

  Session session{SessionConfig{}, 7};
};

TEST_F(SessionTest, ConnectsOnlyOnceTheSupervisorToldWhatItHolds) {
  session.tick(at(1s));
  EXPECT_TRUE(session.take_actions().empty());
  session.attached({}, at(2s));
  EXPECT_EQ(take<Connect>().size(), 1u);
}

TEST_F(SessionTest, HelloListsEverythingHeld) {
  session.attached({{.execution = kA, .started = true}, {.execution = kB, .started = true, .ended = true}}, at(1s));
  session.stream_opened(at(2s));
  const auto hellos = take<SendHello>();
  ASSERT_EQ(hellos.size(), 1u);
  ASSERT_EQ(hellos[0].held.size(), 2u);
  EXPECT_FALSE(hellos[0].held[0].ended);
  EXPECT_TRUE(hellos[0].held[1].ended);
  EXPECT_EQ(hellos[0].sent, at(2s).mono);
}

TEST_F(SessionTest, TheLeaseRunsFromTheSendTimeOfWhatWasAcknowledged) {
  session.attached({}, at(1s));
  session.stream_opened(at(2s));
  session.welcomed({}, at(5s));
  auto extended = take<ExtendLease>();
  ASSERT_EQ(extended.size(), 1u);
  EXPECT_EQ(extended[0].until, at(32s).mono);
  session.tick(at(14s));
  EXPECT_TRUE(session.take_actions().empty());
  session.tick(at(15s));
  const auto beats = take<SendHeartbeat>();
  ASSERT_EQ(beats.size(), 1u);
  session.heartbeat_acked(beats[0].sent);
  session.heartbeat_acked(at(2s).mono);
  extended = take<ExtendLease>();
  ASSERT_EQ(extended.size(), 1u);
  EXPECT_EQ(extended[0].until, at(45s).mono);
  EXPECT_EQ(session.next_deadline(), at(25s).mono);
}

TEST_F(SessionTest, BeatsSoonerWhenSomebodyWatches) {
  go_online(1s);
  session.tick(at(2s));
  EXPECT_TRUE(take<SendHeartbeat>().empty());
  session.set_timing(2s, 30s);
  session.beat_soon(at(2s));
  EXPECT_EQ(session.next_deadline(), at(4s).mono);
  session.tick(at(4s));
  EXPECT_EQ(take<SendHeartbeat>().size(), 1u);
  session.set_timing(10s, 30s);
  session.beat_soon(at(5s));
  EXPECT_EQ(session.next_deadline(), at(6s).mono);  // never later than it was to come
}

TEST_F(SessionTest, ARepeatedOrderStartsNothing) {
  go_online();
  session.ordered({.execution = kA});
  session.ordered({.execution = kA});
  EXPECT_EQ(take<StartExecution>().size(), 1u);
}

TEST_F(SessionTest, AResultFollowsTheOutput) {
  go_online();
  run(kA);
  session.exited(success(kA));
  EXPECT_TRUE(take<SendResult>().empty());
  session.log_flushed(kA);
  session.log_flushed(kA);
  EXPECT_EQ(take<SendResult>().size(), 1u);
}

TEST_F(SessionTest, ForgetsOnceResultAndLogAreDurable) {
  go_online();
  for (const ExecutionId id : {kA, kB}) {
    run(id);
    session.exited(success(id));
    session.log_flushed(id);
  }
  session.results_acked({kA});
  session.log_durable(kB);
  EXPECT_TRUE(take<ForgetExecution>().empty());
  session.log_durable(kA);
  session.results_acked({kB});
  EXPECT_EQ(take<ForgetExecution>().size(), 2u);
  EXPECT_EQ(session.held_count(), 0u);
}

TEST_F(SessionTest, CountsWhatHasNotEndedYet) {
  go_online(1s, {{.execution = kA, .started = true, .ended = true}});
  run(kB);
  EXPECT_EQ(session.held_count(), 2u);
  EXPECT_EQ(session.unfinished_count(), 1u);
  session.exited(success(kB));
  session.exited(success(kB));  // said twice
  EXPECT_EQ(session.unfinished_count(), 0u);
  session.results_acked({kA, kB});
  for (const ExecutionId id : {kA, kB}) session.log_durable(id);
  EXPECT_EQ(session.held_count(), 0u);
  EXPECT_EQ(session.unfinished_count(), 0u);
}

TEST_F(SessionTest, TellsEverythingAgainOnANewStream) {
  go_online();
  run(kA);
  run(kB);
  session.exited(success(kA));
  session.log_flushed(kA);
  session.take_actions();
  session.stream_closed(at(2s));
  session.tick(at(10s));
  EXPECT_EQ(take<Connect>().size(), 1u);
  reconnect(11s);
  EXPECT_EQ(take<SendStarted>().size(), 2u);
  session.log_flushed(kA);
  EXPECT_EQ(take<SendResult>().size(), 1u) << "only after its output went over this stream";
}

TEST_F(SessionTest, WhatHappensWhileOfflineIsToldOnceOnline) {
  go_online();
  session.ordered({.execution = kA});
  session.stream_closed(at(2s));
  session.take_actions();
  session.started(kA, WallTime{77}, 100);
  session.exited(success(kA));
  EXPECT_TRUE(session.take_actions().empty());
  session.tick(at(10s));
  reconnect(11s);
  const auto started = take<SendStarted>();
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started[0].at, WallTime{77});
}

TEST_F(SessionTest, WhatTheServerDoesNotKnowIsKilledAndForgottenWithoutAWord) {
  session.attached({{.execution = kA, .started = true}, {.execution = kB, .started = true, .ended = true}}, at(1s));
  session.stream_opened(at(1s));
  session.take_actions();
  session.welcomed({kA, kB}, at(1s));
  const auto actions = session.take_actions();
  ASSERT_EQ(actions.size(), 3u);
  EXPECT_TRUE(std::holds_alternative<ExtendLease>(actions[0]));
  EXPECT_EQ(std::get<KillExecution>(actions[1]).execution, kA);
  EXPECT_EQ(std::get<ForgetExecution>(actions[2]).execution, kB);
  session.exited({.execution = kA, .outcome = Outcome::Lost});
  session.log_flushed(kA);
  const auto after = session.take_actions();
  ASSERT_EQ(after.size(), 1u);
  EXPECT_EQ(std::get<ForgetExecution>(after[0]).execution, kA);
}

TEST_F(SessionTest, CancelConcernsOnlyWhatIsHeldAndAlive) {
  go_online();
  run(kA);
  session.cancel(kB, false, 1s);
  session.cancel(kA, true, 1s);
  auto kills = take<KillExecution>();
  ASSERT_EQ(kills.size(), 1u);
  EXPECT_EQ(kills[0].why, KillReason::TimedOut);
  session.exited(success(kA));
  session.cancel(kA, false, 1s);
  EXPECT_TRUE(take<KillExecution>().empty());
}

TEST_F(SessionTest, WaitsLongerAfterEachFailureButNeverLongerThanTheMaximum) {
  session.attached({}, at(1s));
  Now now = at(1s);
  for (int i = 0; i < 50; ++i) {
    session.stream_closed(now);
    const Duration wait = session.next_deadline() - now.mono;
    const Duration most = std::min<Duration>(5s, 100ms * (1 << std::min(i, 10)));
    EXPECT_GT(wait, 0s);
    EXPECT_LE(wait, most);
    now = {now.wall + wait, now.mono + wait};
    session.tick(now);
  }
}

TEST_F(SessionTest, DrainedItLeavesWhenNothingIsHeld) {
  go_online();
  run(kA);
  session.drain(true);
  EXPECT_TRUE(take<Leave>().empty());
  session.exited(success(kA));
  session.log_flushed(kA);
  session.log_durable(kA);
  session.results_acked({kA});
  EXPECT_EQ(take<Leave>().size(), 1u);
  session.stream_closed(at(3s));
  session.tick(at(60s));
  EXPECT_TRUE(session.take_actions().empty());
}

TEST_F(SessionTest, UndrainedItStays) {
  go_online();
  run(kA);
  session.drain(true);
  session.drain(false);
  session.exited(success(kA));
  session.log_flushed(kA);
  session.log_durable(kA);
  session.results_acked({kA});
  EXPECT_TRUE(take<Leave>().empty());
}

TEST_F(SessionTest, UndrainedWhileItWasAwayItStaysUnlessItIsToldAgain) {
  go_online();
  run(kA);
  session.drain(true);
  session.stream_closed(at(2s));
  session.tick(at(60s));
  session.stream_opened(at(60s));
  session.welcomed({}, at(60s));
  session.exited(success(kA));
  session.log_flushed(kA);
  session.log_durable(kA);
  session.results_acked({kA});
  EXPECT_TRUE(take<Leave>().empty());
  session.drain(true);
  EXPECT_EQ(take<Leave>().size(), 1u);
}

TEST_F(SessionTest, StoppedItSaysSoBeforeAnythingElseAndLeavesWhenTheServerKnows) {
  go_online();
  session.take_actions();
  session.stop_gracefully(at(2s));
  auto actions = session.take_actions();
  ASSERT_EQ(actions.size(), 1u) << "an order may still be on its way: it does not leave";
  EXPECT_TRUE(std::holds_alternative<SendStopping>(actions[0]));
  session.stop_noted();
  const auto leaves = take<Leave>();
  ASSERT_EQ(leaves.size(), 1u);
  EXPECT_FALSE(leaves[0].for_good) << "it keeps its session";
}

TEST_F(SessionTest, StoppedItStartsNothingThatStillArrives) {
  go_online();
  run(kA);
  session.stop_gracefully(at(2s));
  session.take_actions();
  session.ordered({.execution = kB});
  auto actions = session.take_actions();
  ASSERT_EQ(actions.size(), 1u) << "the supervisor never hears of it";
  const Exit exit = std::get<SendResult>(actions[0]).exit;
  EXPECT_EQ(exit.execution, kB);
  EXPECT_EQ(exit.outcome, Outcome::Interrupted);
  EXPECT_FALSE(exit.started.is_set());
  session.stop_noted();
  session.results_acked({kB});
  EXPECT_TRUE(take<Leave>().empty()) << "one still runs";
  session.exited(success(kA));
  session.log_flushed(kA);
  session.log_durable(kA);
  session.results_acked({kA});
  EXPECT_EQ(take<Leave>().size(), 1u);
}

TEST_F(SessionTest, StoppedItTellsARefusedOrderAgainOnTheNextStream) {
  go_online();
  session.stop_gracefully(at(2s));
  session.ordered({.execution = kB});
  session.stream_closed(at(3s));
  session.take_actions();
  session.stream_opened(at(4s));
  const auto hellos = take<SendHello>();
  ASSERT_EQ(hellos.size(), 1u);
  EXPECT_TRUE(hellos[0].stopping);
  ASSERT_EQ(hellos[0].held.size(), 1u);
  EXPECT_TRUE(hellos[0].held[0].ended);
  session.welcomed({}, at(4s));
  EXPECT_EQ(take<SendResult>().size(), 1u);
  session.results_acked({kB});
  EXPECT_EQ(take<Leave>().size(), 1u) << "the welcome was the answer to a hello that said so";
}

TEST_F(SessionTest, StoppedWhileItSaysHelloItSaysSoAfterTheWelcome) {
  session.attached({}, at(1s));
  session.stream_opened(at(1s));
  session.take_actions();
  session.stop_gracefully(at(2s));
  EXPECT_TRUE(session.take_actions().empty());
  session.welcomed({}, at(3s));
  EXPECT_EQ(take<SendStopping>().size(), 1u);
  EXPECT_TRUE(take<Leave>().empty());
  session.stop_noted();
  EXPECT_EQ(take<Leave>().size(), 1u);
}

TEST_F(SessionTest, StoppedWithoutAServerItLeavesAtOnceWhenItHoldsNothing) {
  session.attached({}, at(1s));
  session.stream_closed(at(1s));
  session.take_actions();
  session.stop_gracefully(at(1s));
  EXPECT_EQ(take<Leave>().size(), 1u);
}

TEST_F(SessionTest, StoppedWithoutAServerItTriesAtOnceToTellWhatItHolds) {
  session.attached({{.execution = kA, .started = true}}, at(1s));
  session.stream_closed(at(1s));
  session.take_actions();
  session.stop_gracefully(at(1s));
  EXPECT_EQ(session.next_deadline(), at(1s).mono);
  session.tick(at(1s));
  EXPECT_EQ(take<Connect>().size(), 1u);
}

TEST_F(SessionTest, TurnedAwayItLeavesForGood) {
  session.attached({}, at(1s));
  session.take_actions();
  session.turned_away("UNAUTHENTICATED");
  EXPECT_EQ(take<Leave>().size(), 1u);
  EXPECT_EQ(session.next_deadline(), kNever);
}

}  // namespace
}  // namespace hodei::worker::session_test
