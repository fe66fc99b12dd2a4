// The lease (docs/semantics.md#lease): a worker is unhealthy after 30 s of silence and lost after 45 s, and a stall of
// the server extends all deadlines.
#include <cmath>

#include "src/core/engine_harness.h"

namespace hodei::core::lease_test {
namespace {

TEST(Lease, RequeuesTheJobOfAWorkerThatStaysSilent) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(2));
  bench.worker("w1").joins().takes(job).goes_silent();
  bench.advance(46s);
  EXPECT_EQ(bench.state(job), JobState::Pending);
  EXPECT_EQ(bench.job(job).attempts, 1u);
}

TEST(Lease, FailsTheJobOfAWorkerThatStaysSilentWhenNoAttemptIsLeft) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(1));
  bench.worker("w1").joins().takes(job).goes_silent();
  bench.advance(46s);
  EXPECT_EQ(bench.state(job), JobState::Failed);
}

TEST(Lease, NeverGivesAJobToAnotherBeforeItHasEnded) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(2));
  bench.worker("w1").joins().takes(job).goes_silent();
  bench.worker("w2").joins();
  bench.advance(44'900ms);
  EXPECT_EQ(bench.state(job), JobState::Running);
  EXPECT_EQ(bench.told<RunExecution>().size(), 1u);
  bench.advance(2s);
  EXPECT_EQ(bench.where(job), "w2");
}

TEST(Lease, SendsNoNewWorkAfterHalfAMinuteOfSilence) {
  Bench bench;
  bench.worker("w1").joins(2).goes_silent();
  bench.advance(29s);
  EXPECT_FALSE(bench.worker("w1").live().unhealthy);
  bench.advance(2s);
  EXPECT_TRUE(bench.worker("w1").live().unhealthy);
  const JobId job = bench.submit(a_job());
  EXPECT_EQ(bench.state(job), JobState::Pending);
}

TEST(Lease, KeepsTheExecutionsOfAnUnhealthyWorkerThatComesBackInTime) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins(2).takes(job).goes_silent();
  bench.advance(40s);
  const JobId waiting = bench.submit(a_job());
  bench.worker("w1").beats();
  EXPECT_FALSE(bench.worker("w1").live().unhealthy);
  EXPECT_EQ(bench.where(waiting), "w1") << "it gets work again at once";
  bench.advance(60s);
  EXPECT_EQ(bench.state(job), JobState::Running);
  bench.worker("w1").finishes(job);
  EXPECT_EQ(bench.state(job), JobState::Succeeded);
}

TEST(Lease, HoldsAsLongAsHeartbeatsCome) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job);
  bench.advance(std::chrono::hours(1));
  EXPECT_EQ(bench.state(job), JobState::Running);
  EXPECT_FALSE(bench.worker("w1").live().unhealthy);
}

TEST(Lease, IsNotKeptAliveByAnOldStream) {
  Bench bench;
  bench.worker("w1").joins();
  const uint64_t old = bench.worker("w1").stream();
  bench.worker("w1").returns();
  EXPECT_TRUE(absl::IsAborted(bench.refused(Heartbeat{WorkerId("w1"), old, 1})));
}

TEST(Lease, IsExtendedByAStallOfTheServer) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(2));
  bench.worker("w1").joins().takes(job).goes_silent();
  bench.advance(40s);
  bench.now = {bench.now.wall + 20s, bench.now.mono + 20s};
  bench.ask<Done>(Stall{20s});
  bench.ask<Done>(Tick{});
  EXPECT_EQ(bench.state(job), JobState::Running);
  bench.advance(6s);
  EXPECT_EQ(bench.state(job), JobState::Pending);
}

TEST(Lease, CountsFromTheStartOfARestartedServer) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(2));
  bench.worker("w1").joins().takes(job).goes_silent();
  bench.advance(40s);
  bench.restart();
  bench.advance(44s);
  EXPECT_EQ(bench.state(job), JobState::Running);
  bench.advance(2s);
  EXPECT_EQ(bench.state(job), JobState::Pending);
}

TEST(Lease, DoesNotFollowTheWallClock) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(2));
  bench.worker("w1").joins().takes(job);
  bench.now.wall = bench.now.wall + std::chrono::hours(24 * 365 * 2);
  bench.advance(9s);
  EXPECT_EQ(bench.state(job), JobState::Running);
  bench.now.wall = bench.now.wall - std::chrono::hours(24 * 365 * 4);
  bench.worker("w1").goes_silent();
  bench.advance(46s);
  EXPECT_EQ(bench.state(job), JobState::Pending);
}

TEST(Lease, ClosesTheStreamOfAWorkerWhoseExecutionsWereGivenUp) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job).goes_silent();
  bench.advance(46s);
  ASSERT_EQ(bench.told<DropStream>().size(), 1u);
  EXPECT_EQ(bench.told<DropStream>()[0].stream, bench.worker("w1").stream());
}

TEST(Lease, IsNotEndedByAClosedStreamAlone) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job).closes();
  bench.advance(30s);
  EXPECT_EQ(bench.state(job), JobState::Running);
  bench.worker("w1").returns({{bench.current(job), true, false}});
  bench.advance(120s);
  EXPECT_EQ(bench.state(job), JobState::Running);
}

TEST(Heartbeat, TellsOfItsWorkerAndWritesNothing) {
  Bench bench;
  bench.worker("w1").joins();
  bench.ask<HeartbeatTaken>(Heartbeat{WorkerId("w1"), bench.worker("w1").stream(), 777, 0.5, 100, 3});
  EXPECT_TRUE(bench.last.writes.empty());
  EXPECT_TRUE(bench.last.effects.empty());
  EXPECT_EQ(bench.worker("w1").live().dropped_logs, 3);
}

TEST(SilentWorker, IsForgottenAfterADay) {
  Bench bench;
  bench.checks = false;
  bench.worker("w1").joins().goes_silent();
  bench.advance(std::chrono::hours(23));
  EXPECT_EQ(bench.rows.workers.size(), 1u);
  bench.advance(std::chrono::hours(2));
  EXPECT_TRUE(bench.rows.workers.empty());
  bench.check();
}

TEST(Heartbeat, WithALoadThatIsNoNumberDisturbsNobody) {
  Bench bench;
  bench.worker("w1").joins();
  bench.worker("w2").joins();
  for (const double load : {std::nan(""), -1.0, 7.0, std::nan(""), 0.5}) {
    for (const char* id : {"w1", "w2"}) bench.worker(id).beats(load);
  }
  for (int i = 0; i < 2; ++i) EXPECT_EQ(bench.state(bench.submit(a_job())), JobState::Scheduled);
  EXPECT_EQ(bench.worker("w1").live().executions.size(), 1u);
  EXPECT_EQ(bench.worker("w2").live().executions.size(), 1u);
}

}  // namespace
}  // namespace hodei::core::lease_test
