// Preemption: when it is allowed, a job of a higher class that fits nowhere takes the room of lower ones.
#include "src/core/engine_harness.h"

namespace hodei::core::preempt_test {
namespace {

void allow(Bench& bench) { bench.ask<SchedulerConfig>(ConfigureScheduler{.preemption = true}); }

JobOrder low() { return a_job().priority(Priority::Low); }
JobOrder high() { return a_job().priority(Priority::High); }

// Which jobs were told to end, in order.
std::vector<JobId> ended(const Bench& bench) {
  std::vector<JobId> out;
  for (const CancelExecution& c : bench.told<CancelExecution>()) out.push_back(c.execution.job);
  return out;
}

TEST(Preemption, IsOffUnlessItIsAllowed) {
  Bench bench;
  bench.worker("a").joins(1);
  bench.worker("a").takes(bench.submit(low()));
  bench.submit(high());
  EXPECT_TRUE(ended(bench).empty());
}

TEST(Preemption, RequeuesTheLowerJobWithoutCountingAnAttempt) {
  Bench bench;
  allow(bench);
  bench.worker("a").joins(1);
  const JobId poor = bench.submit(low());
  bench.worker("a").takes(poor);
  const JobId rich = bench.submit(high());
  EXPECT_EQ(ended(bench), std::vector<JobId>{poor});
  EXPECT_EQ(bench.state(poor), JobState::Running) << "until its worker says that it is dead";
  EXPECT_EQ(bench.state(rich), JobState::Pending);
  EXPECT_EQ(bench.explain(rich).waiting_for, "worker a is being freed for it: lower-priority jobs there are requeued");
  bench.worker("a").finishes(poor, Outcome::Cancelled);
  EXPECT_EQ(bench.where(rich), "a");
  EXPECT_EQ(bench.state(poor), JobState::Pending);
  EXPECT_EQ(bench.job(poor).attempts, 0u);
  EXPECT_EQ(bench.job(poor).past->executions[0].failure, "preempted");
  bench.worker("a").takes(rich).finishes(rich);
  bench.worker("a").takes(poor).finishes(poor);
  EXPECT_EQ(bench.state(poor), JobState::Succeeded);
  EXPECT_EQ(bench.job(poor).attempts, 1u);
  EXPECT_EQ(bench.job(poor).executions, 2u);
}

TEST(Preemption, IsNoFailureWhenTheJobFailsAsItIsToldToEnd) {
  Bench bench;
  allow(bench);
  bench.worker("a").joins(1);
  const JobId poor = bench.submit(low());
  bench.worker("a").takes(poor);
  bench.submit(high());
  bench.worker("a").fails(poor);
  EXPECT_EQ(bench.state(poor), JobState::Pending);
}

TEST(Preemption, TakesTheLowestClassThenTheNewest) {
  Bench bench;
  allow(bench);
  bench.worker("a").joins(3);
  const JobId normal = bench.submit(a_job());
  bench.advance(1s);
  const JobId older = bench.submit(low());
  bench.advance(1s);
  const JobId newer = bench.submit(low());
  bench.worker("a").takes(normal).takes(older).takes(newer);
  bench.submit(high());
  EXPECT_EQ(ended(bench), std::vector<JobId>{newer});
}

TEST(Preemption, EndsAsFewAsItCan) {
  Bench bench;
  allow(bench);
  bench.worker("a").joins(a_worker().slots(8).cores(4));
  bench.worker("b").joins(a_worker().slots(8).cores(4));
  std::vector<JobId> small;
  for (int i = 0; i < 4; ++i)
    small.push_back(bench.submit(low().cores(1).wants({"big", LabelOperator::DoesNotExist, {}})));
  // Whichever worker holds two and two, the other jobs fill up the rest.
  const JobId big_one = bench.submit(low().cores(2));
  const JobId big_two = bench.submit(low().cores(2));
  const std::string at = bench.where(big_one);
  ASSERT_NE(at, bench.where(big_two));
  bench.submit(high().cores(2));
  ASSERT_EQ(ended(bench).size(), 1u) << "two jobs of one core would have had to go instead";
  EXPECT_TRUE(ended(bench)[0] == big_one || ended(bench)[0] == big_two);
}

TEST(Preemption, KeepsTheRoomForTheOneItWasMadeFor) {
  Bench bench;
  allow(bench);
  bench.worker("a").joins(a_worker().slots(8).cores(2));
  const JobId first = bench.submit(low().cores(1));
  const JobId second = bench.submit(low().cores(1));
  bench.worker("a").takes(first).takes(second);
  const JobId rich = bench.submit(high().cores(2));
  EXPECT_EQ(ended(bench).size(), 2u);
  const JobId thief = bench.submit(low().cores(1));
  bench.worker("a").finishes(first, Outcome::Cancelled);
  EXPECT_EQ(bench.state(first), JobState::Pending) << "it must not take its own room back";
  EXPECT_EQ(bench.state(thief), JobState::Pending);
  bench.worker("a").finishes(second, Outcome::Cancelled);
  EXPECT_EQ(bench.where(rich), "a");
}

TEST(Preemption, NeverTouchesTheSameOrAHigherClass) {
  Bench bench;
  allow(bench);
  bench.worker("a").joins(2);
  bench.worker("a").takes(bench.submit(high()));
  bench.worker("a").takes(bench.submit(a_job().priority(Priority::Critical)));
  bench.submit(high());
  bench.advance(10s);
  EXPECT_TRUE(ended(bench).empty());
}

TEST(Preemption, MakesRoomForEveryOneThatWaits) {
  Bench bench;
  allow(bench);
  bench.worker("a").joins(3);
  std::vector<JobId> poor;
  for (int i = 0; i < 3; ++i) poor.push_back(bench.submit(low()));
  for (const JobId job : poor) bench.worker("a").takes(job);
  bench.worker("b").joins(3);
  std::vector<JobId> more;
  for (int i = 0; i < 3; ++i) more.push_back(bench.submit(low()));
  for (const JobId job : more) bench.worker("b").takes(job);
  for (int i = 0; i < 2; ++i) bench.submit(high());
  bench.advance(2s);
  EXPECT_EQ(ended(bench).size(), 2u) << "one on each worker";
}

TEST(Preemption, GoesOnAfterARestartAndEndsNobodyTwice) {
  Bench bench;
  allow(bench);
  bench.worker("a").joins(1);
  const JobId poor = bench.submit(low());
  bench.worker("a").takes(poor);
  const JobId rich = bench.submit(high());
  bench.restart();
  bench.worker("a").returns({{bench.current(poor), true, false}});
  bench.advance(3s);
  bench.worker("a").finishes(poor, Outcome::Cancelled);
  EXPECT_EQ(bench.where(rich), "a");
  EXPECT_EQ(bench.state(poor), JobState::Pending);
}

TEST(Preemption, StopsKeepingRoomWhenItsJobIsCancelled) {
  Bench bench;
  allow(bench);
  bench.worker("a").joins(1);
  const JobId poor = bench.submit(low());
  bench.worker("a").takes(poor);
  const JobId rich = bench.submit(high());
  bench.cancel(rich);
  bench.worker("a").finishes(poor, Outcome::Cancelled);
  EXPECT_EQ(bench.where(poor), "a") << "nobody else wants its room";
}

}  // namespace
}  // namespace hodei::core::preempt_test
