#include "src/worker/core/keeper.h"

#include "gtest/gtest.h"

namespace hodei::worker::keeper_test {
namespace {

const ExecutionId kA{JobId{1}, 1};
const ExecutionId kB{JobId{2}, 1};

Now at(Duration since_boot) { return {WallTime{1'000'000'000 + since_boot.count()}, MonoTime{since_boot.count()}}; }

// A keeper with a lease until 30 s, and a record of what it asked for.
class KeeperTest : public testing::Test {
 protected:
  KeeperTest() { keeper.extend_lease(MonoTime{0} + 30s); }

  void settle() {
    for (KeeperAction& action : keeper.take_actions()) {
      if (auto* spawn = std::get_if<Spawn>(&action)) spawns.push_back(spawn->execution);
      if (auto* signal = std::get_if<SignalTree>(&action)) signals.push_back(*signal);
      if (auto* started = std::get_if<TellStarted>(&action)) starts.push_back(started->execution);
      if (auto* exited = std::get_if<TellExited>(&action)) exits.push_back(exited->exit);
      if (auto* release = std::get_if<Release>(&action)) releases.push_back(release->execution);
    }
  }
  void run(ExecutionId id, Duration since_boot = 1s, Duration timeout = 0s) {
    keeper.start({.execution = id, .timeout = timeout}, at(since_boot));
    keeper.spawned(id, 100, at(since_boot));
    settle();
  }
  void die(ExecutionId id, Duration since_boot, int exit_code = 0, int signal = 0) {
    keeper.main_exited(id, exit_code, signal, at(since_boot));
    keeper.tree_dead(id, Exit{.log_bytes = 7, .facts = {.usage = {.cpu_ms = 5, .max_memory_kb = 6}}}, at(since_boot));
    settle();
  }

  Keeper keeper{{.max_held = 3}};
  std::vector<ExecutionId> spawns, starts, releases;
  std::vector<SignalTree> signals;
  std::vector<Exit> exits;
};

TEST_F(KeeperTest, StartsAnExecutionOnceHoweverOftenTheOrderComes) {
  run(kA);
  keeper.start({.execution = kA}, at(2s));
  die(kA, 3s);
  keeper.start({.execution = kA}, at(4s));
  settle();
  EXPECT_EQ(spawns, std::vector{kA});
  EXPECT_EQ(starts, std::vector{kA});
  EXPECT_EQ(exits.size(), 1u);
}

TEST_F(KeeperTest, ALimitThatEndedAJobNamesItsFailure) {
  run(kA);
  keeper.main_exited(kA, 137, 9, at(2s));
  keeper.tree_dead(kA, Exit{.failure = "oom", .message = "too much"}, at(2s));
  run(kB);
  keeper.main_exited(kB, 0, 0, at(2s));  // a process of the job was ended, and the main one did not mind
  keeper.tree_dead(kB, Exit{.failure = "oom", .message = "too much"}, at(2s));
  settle();
  ASSERT_EQ(exits.size(), 2u);
  for (const Exit& exit : exits) {
    EXPECT_EQ(exit.outcome, Outcome::Failed);
    EXPECT_EQ(exit.failure, "oom");
    EXPECT_EQ(exit.message, "too much");
    EXPECT_EQ(exit.exit_code, 137);
  }
}

TEST_F(KeeperTest, WhoeverWantedTheEndDecidesWhatItIsCalled) {
  run(kA);
  keeper.kill(kA, KillReason::Cancelled, 0s, at(2s));
  keeper.main_exited(kA, 137, 9, at(2s));
  keeper.tree_dead(kA, Exit{.failure = "oom", .message = "too much"}, at(2s));
  settle();
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ(exits[0].outcome, Outcome::Cancelled);
  EXPECT_EQ(exits[0].failure, "cancelled");
}

TEST_F(KeeperTest, SaysInTheResultWhatTheWorkerCouldNotHold) {
  run(kA);
  keeper.main_exited(kA, 0, 0, at(2s));
  keeper.tree_dead(kA, Exit{.message = "no cpu limit"}, at(2s));
  run(kB);
  keeper.main_exited(kB, 3, 0, at(2s));
  keeper.tree_dead(kB, Exit{.message = "no cpu limit"}, at(2s));
  settle();
  ASSERT_EQ(exits.size(), 2u);
  EXPECT_EQ(exits[0].outcome, Outcome::Succeeded);
  EXPECT_EQ(exits[0].message, "exited with 0; no cpu limit");
  EXPECT_EQ(exits[1].failure, "non_zero_exit");
  EXPECT_EQ(exits[1].message, "exited with 3; no cpu limit");
}

TEST_F(KeeperTest, TellsTheEndOnlyWhenTheTreeIsDead) {
  run(kA);
  keeper.main_exited(kA, 3, 0, at(2s));
  settle();
  ASSERT_EQ(signals.size(), 1u);
  EXPECT_TRUE(signals[0].kill);
  EXPECT_TRUE(exits.empty());
  keeper.tree_dead(kA, Exit{.log_bytes = 7, .facts = {.usage = {.cpu_ms = 5, .max_memory_kb = 6}}}, at(3s));
  settle();
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ(exits[0].outcome, Outcome::Failed);
  EXPECT_EQ(exits[0].exit_code, 3);
  EXPECT_EQ(exits[0].failure, "non_zero_exit");
  EXPECT_EQ(exits[0].started, at(1s).wall);
  EXPECT_EQ(exits[0].ended, at(3s).wall);
  EXPECT_EQ(exits[0].log_bytes, 7);
}

TEST_F(KeeperTest, AnExitBySignalIsAFailureThatNamesTheSignal) {
  run(kA);
  die(kA, 2s, 139, 11);
  EXPECT_EQ(exits[0].outcome, Outcome::Failed);
  EXPECT_EQ(exits[0].failure, "signal");
  EXPECT_EQ(exits[0].signal, 11);
}

TEST_F(KeeperTest, KeepsTheRecordUntilItIsForgotten) {
  run(kA);
  keeper.forget(kA);
  settle();
  EXPECT_TRUE(releases.empty()) << "it has not ended";
  die(kA, 2s);
  ASSERT_EQ(keeper.inventory().size(), 1u);
  EXPECT_TRUE(keeper.inventory()[0].ended);
  EXPECT_EQ(keeper.inventory()[0].exit.outcome, Outcome::Succeeded);
  keeper.forget(kA);
  keeper.forget(kB);
  settle();
  EXPECT_EQ(releases, std::vector{kA});
  EXPECT_TRUE(keeper.empty());
}

TEST_F(KeeperTest, TheEndOfTheLeaseKillsEverythingAtOnce) {
  run(kA);
  run(kB);
  keeper.tick(at(29s));
  settle();
  EXPECT_TRUE(signals.empty());
  EXPECT_EQ(keeper.next_deadline(), at(30s).mono);
  keeper.tick(at(30s));
  keeper.tick(at(31s));
  settle();
  ASSERT_EQ(signals.size(), 2u);
  EXPECT_TRUE(signals[0].kill && signals[1].kill);
  die(kA, 32s, 137, 9);
  EXPECT_EQ(exits[0].outcome, Outcome::Lost);
  EXPECT_EQ(exits[0].failure, "lease_expired");
  EXPECT_EQ(keeper.next_deadline(), kNever);
}

TEST_F(KeeperTest, AnExtendedLeaseLetsItRunOn) {
  run(kA);
  keeper.extend_lease(at(60s).mono);
  keeper.extend_lease(at(40s).mono);
  keeper.tick(at(59s));
  settle();
  EXPECT_TRUE(signals.empty());
}

TEST_F(KeeperTest, RefusesAStartAfterTheLeaseEnded) {
  keeper.start({.execution = kA}, at(30s));
  settle();
  EXPECT_TRUE(spawns.empty());
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ(exits[0].outcome, Outcome::Lost);
  EXPECT_FALSE(exits[0].started.is_set());
  keeper.extend_lease(at(90s).mono);
  keeper.start({.execution = kA}, at(31s));
  settle();
  EXPECT_TRUE(spawns.empty()) << "told as lost once, it is never started";
}

TEST_F(KeeperTest, ALeaseThatEndsWhileTheProcessIsBeingMadeKillsItAsSoonAsItExists) {
  keeper.start({.execution = kA}, at(29s));
  keeper.spawned(kA, 100, at(31s));
  settle();
  ASSERT_EQ(signals.size(), 1u);
  EXPECT_TRUE(signals[0].kill);
  keeper.start({.execution = kB}, at(31s));
  die(kA, 32s, 137, 9);
  EXPECT_EQ(exits.back().outcome, Outcome::Lost);
}

TEST_F(KeeperTest, ATimeoutAsksThenKillsAfterTheGrace) {
  run(kA, 1s, 4s);
  EXPECT_EQ(keeper.next_deadline(), at(5s).mono);
  keeper.tick(at(5s));
  settle();
  ASSERT_EQ(signals.size(), 1u);
  EXPECT_FALSE(signals[0].kill);
  EXPECT_EQ(keeper.next_deadline(), at(10s).mono);
  keeper.tick(at(10s));
  keeper.tick(at(11s));
  settle();
  ASSERT_EQ(signals.size(), 2u);
  EXPECT_TRUE(signals[1].kill);
  die(kA, 12s, 0);
  EXPECT_EQ(exits[0].outcome, Outcome::TimedOut);
  EXPECT_EQ(exits[0].failure, "timeout");
}

TEST_F(KeeperTest, CancelAsksThenKillsAfterTheGivenGrace) {
  run(kA);
  keeper.kill(kA, KillReason::Cancelled, 2s, at(2s));
  keeper.kill(kA, KillReason::TimedOut, 10s, at(2s));
  keeper.tick(at(4s));
  settle();
  ASSERT_EQ(signals.size(), 2u);
  EXPECT_FALSE(signals[0].kill);
  EXPECT_TRUE(signals[1].kill);
  die(kA, 5s, 137, 9);
  EXPECT_EQ(exits[0].outcome, Outcome::Cancelled);
  EXPECT_EQ(exits[0].failure, "cancelled");
}

TEST_F(KeeperTest, AProcessThatEndedByItselfKeepsItsOwnOutcome) {
  run(kA);
  keeper.main_exited(kA, 0, 0, at(2s));
  keeper.kill(kA, KillReason::Cancelled, 2s, at(2s));
  keeper.tick(at(31s));
  keeper.tree_dead(kA, {}, at(31s));
  settle();
  EXPECT_EQ(exits[0].outcome, Outcome::Succeeded);
}

TEST_F(KeeperTest, ACancelBeforeTheSpawnEndsItAsSoonAsItIsSpawned) {
  keeper.kill(kA, KillReason::Cancelled, 1s, at(1s));
  keeper.start({.execution = kA}, at(1s));
  keeper.kill(kA, KillReason::Cancelled, 1s, at(2s));
  settle();
  EXPECT_TRUE(signals.empty());
  keeper.spawned(kA, 100, at(2s));
  settle();
  ASSERT_EQ(signals.size(), 1u);
  EXPECT_FALSE(signals[0].kill);
  keeper.tick(at(3s));
  settle();
  ASSERT_EQ(signals.size(), 2u);
  EXPECT_TRUE(signals[1].kill);
}

TEST_F(KeeperTest, AFailedSpawnIsToldAsItsOwnEnd) {
  keeper.start({.execution = kA}, at(1s));
  keeper.spawn_failed(kA, Exit{.outcome = Outcome::Failed, .exit_code = 127, .failure = "command_not_found"}, at(1s));
  settle();
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ(exits[0].execution, kA);
  EXPECT_EQ(exits[0].exit_code, 127);
  EXPECT_FALSE(exits[0].started.is_set());
  EXPECT_EQ(keeper.next_deadline(), kNever);
}

TEST_F(KeeperTest, StoppedItStartsNothingMoreAndLetsWhatRunsEnd) {
  run(kA);
  keeper.stop_gracefully(10s, at(2s));
  keeper.start({.execution = kB}, at(2s));
  settle();
  EXPECT_EQ(spawns, std::vector{kA});
  EXPECT_TRUE(signals.empty()) << "it may end by itself";
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ(exits[0].execution, kB);
  EXPECT_EQ(exits[0].outcome, Outcome::Interrupted);
  EXPECT_FALSE(exits[0].started.is_set());
  die(kA, 5s);
  EXPECT_EQ(exits[1].outcome, Outcome::Succeeded);
}

TEST_F(KeeperTest, StoppedItInterruptsWhatRunsLongerThanTheGraceTime) {
  run(kA);
  keeper.stop_gracefully(10s, at(2s));
  EXPECT_EQ(keeper.next_deadline(), at(12s).mono);
  keeper.tick(at(12s));
  settle();
  ASSERT_EQ(signals.size(), 1u);
  EXPECT_FALSE(signals[0].kill) << "in good order at first";
  keeper.tick(at(17s));
  settle();
  EXPECT_TRUE(signals.back().kill) << "after its own grace";
  die(kA, 17s, 137, 9);
  EXPECT_EQ(exits[0].outcome, Outcome::Interrupted);
  EXPECT_EQ(exits[0].failure, "interrupted");
  EXPECT_TRUE(exits[0].started.is_set());
}

TEST_F(KeeperTest, ToldToStopAgainItDoesNotWait) {
  run(kA);
  keeper.stop_gracefully(20s, at(2s));
  keeper.stop_gracefully(0s, at(3s));
  settle();
  ASSERT_EQ(signals.size(), 1u);
  EXPECT_FALSE(signals[0].kill);
  keeper.stop_at_once();
  settle();
  ASSERT_EQ(signals.size(), 2u);
  EXPECT_TRUE(signals[1].kill);
  die(kA, 3s, 0, 9);
  EXPECT_EQ(exits[0].outcome, Outcome::Interrupted);
}

TEST_F(KeeperTest, WhatWasCancelledBeforeTheStopStaysCancelled) {
  run(kA);
  keeper.kill(kA, KillReason::Cancelled, 5s, at(2s));
  keeper.stop_gracefully(0s, at(2s));
  die(kA, 3s, 0, 15);
  EXPECT_EQ(exits[0].outcome, Outcome::Cancelled);
}

TEST_F(KeeperTest, NoJobHoldsUpAStopForLongerThanTheWorkerItself) {
  keeper.start({.execution = kA, .grace = 3600s}, at(1s));
  keeper.spawned(kA, 100, at(1s));
  keeper.start({.execution = kB, .grace = 3600s}, at(1s));
  keeper.spawned(kB, 101, at(1s));
  settle();
  keeper.kill(kB, KillReason::Cancelled, 0s, at(2s));
  keeper.stop_gracefully(2s, at(3s));
  keeper.tick(at(5s));
  settle();
  ASSERT_EQ(signals.size(), 2u);
  EXPECT_FALSE(signals[0].kill || signals[1].kill) << "both are asked to end";
  EXPECT_LE(keeper.next_deadline(), at(10s).mono);
  keeper.tick(at(10s));
  settle();
  ASSERT_EQ(signals.size(), 4u) << "five seconds after the grace time of the stop, whatever the job asked for";
  EXPECT_TRUE(signals[2].kill && signals[3].kill);
}

TEST_F(KeeperTest, ALeaseThatEndsWhileItStopsIsAnInterruption) {
  run(kA);
  keeper.stop_gracefully(60s, at(20s));
  keeper.tick(at(30s));
  settle();
  die(kA, 30s, 0, 9);
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ(exits[0].outcome, Outcome::Interrupted);
}

TEST_F(KeeperTest, HoldsWhatAnEarlierOneCouldNotTell) {
  keeper.adopt({.execution = kA, .outcome = Outcome::Succeeded, .started = {5}, .ended = {6}, .log_bytes = 7});
  const std::vector<Held> held = keeper.inventory();
  ASSERT_EQ(held.size(), 1u);
  EXPECT_TRUE(held[0].started && held[0].ended);
  EXPECT_EQ(held[0].exit.log_bytes, 7);
  keeper.start({.execution = kA}, at(1s));
  keeper.kill(kA, KillReason::Cancelled, 0s, at(1s));
  keeper.tick(at(40s));
  settle();
  EXPECT_TRUE(spawns.empty() && signals.empty() && exits.empty());
  EXPECT_EQ(keeper.alive_count(), 0u);
  keeper.forget(kA);
  EXPECT_TRUE(keeper.empty());
}

TEST_F(KeeperTest, RefusesMoreThanItMayHold) {
  for (uint64_t n = 1; n <= 4; ++n) keeper.start({.execution = {JobId{n}, 1}}, at(1s));
  settle();
  EXPECT_EQ(spawns.size(), 3u);
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ(exits[0].execution.job, JobId{4});
  EXPECT_EQ(keeper.inventory().size(), 3u);
}

}  // namespace
}  // namespace hodei::worker::keeper_test
