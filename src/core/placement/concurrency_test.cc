// Concurrency keys: at most so many jobs of a key are with workers, from dispatch to proven end.
#include "src/core/engine_harness.h"

namespace hodei::core::concurrency_test {
namespace {

std::vector<JobId> submit(Bench& bench, int n, const JobOrder& order) {
  std::vector<JobId> jobs;
  for (int i = 0; i < n; ++i) jobs.push_back(bench.submit(order));
  return jobs;
}

std::vector<JobId> active(const Bench& bench, const std::vector<JobId>& jobs) {
  std::vector<JobId> out;
  for (const JobId job : jobs) {
    if (is_active(bench.state(job))) out.push_back(job);
  }
  return out;
}

TEST(ConcurrencyKey, LetsOnlyItsLimitOfJobsRun) {
  Bench bench;
  bench.worker("w1").joins(10);
  const auto jobs = submit(bench, 4, a_job().key("db", 2));
  EXPECT_EQ(active(bench, jobs), (std::vector{jobs[0], jobs[1]}));
  EXPECT_EQ(bench.held("db"), 2);
  EXPECT_EQ(bench.queue().parked, 2);
}

TEST(ConcurrencyKey, HasALimitOfOneWhenNobodySaidMore) {
  Bench bench;
  bench.worker("w1").joins(10);
  const auto jobs = submit(bench, 2, a_job().key("db"));
  EXPECT_EQ(active(bench, jobs), std::vector{jobs[0]});
}

TEST(ConcurrencyKey, IsAnotherOneInAnotherNamespace) {
  Bench bench;
  bench.worker("w1").joins(10);
  const JobId here = bench.submit(a_job().key("db", 1));
  const JobId there = bench.submit(a_job().in("other").key("db", 1));
  EXPECT_EQ(active(bench, {here, there}), (std::vector{here, there}));
}

TEST(ConcurrencyKey, WakesItsJobsInOrderWhenOneEnds) {
  Bench bench;
  bench.worker("w1").joins(10);
  const auto jobs = submit(bench, 3, a_job().key("db", 1));
  bench.worker("w1").takes(jobs[0]).finishes(jobs[0]);
  EXPECT_EQ(active(bench, jobs), std::vector{jobs[1]});
  bench.worker("w1").takes(jobs[1]).finishes(jobs[1]);
  EXPECT_EQ(active(bench, jobs), std::vector{jobs[2]});
}

TEST(ConcurrencyKey, IsHeldUntilTheWorkerConfirmsACancel) {
  Bench bench;
  bench.worker("w1").joins(10);
  const auto jobs = submit(bench, 2, a_job().key("db", 1));
  bench.worker("w1").takes(jobs[0]);
  bench.cancel(jobs[0]);
  EXPECT_EQ(bench.held("db"), 1);
  EXPECT_EQ(bench.state(jobs[1]), JobState::Pending);
  bench.worker("w1").finishes(jobs[0], Outcome::Cancelled);
  EXPECT_EQ(bench.state(jobs[1]), JobState::Scheduled);
}

TEST(ConcurrencyKey, IsHeldWhileTheWorkerIsSilentAndFreedWhenItsLeaseHasEnded) {
  Bench bench;
  bench.worker("w1").joins(10);
  const auto jobs = submit(bench, 2, a_job().key("db", 1));
  bench.worker("w2").joins(10);
  bench.worker("w1").takes(jobs[0]).goes_silent();
  bench.advance(44s);
  EXPECT_EQ(bench.state(jobs[1]), JobState::Pending);
  bench.advance(2s);
  EXPECT_EQ(bench.state(jobs[0]), JobState::Failed);
  EXPECT_EQ(bench.where(jobs[1]), "w2");
}

TEST(ConcurrencyKey, IsNotHeldDuringABackOff) {
  Bench bench;
  bench.worker("w1").joins(10);
  const auto jobs = submit(bench, 2, a_job().key("db", 1).attempts(2).backoff(60s));
  bench.worker("w1").takes(jobs[0]).fails(jobs[0]);
  EXPECT_EQ(bench.state(jobs[0]), JobState::Pending);
  EXPECT_EQ(bench.state(jobs[1]), JobState::Scheduled);
  EXPECT_EQ(bench.held("db"), 1);
  bench.advance(61s);
  EXPECT_EQ(bench.state(jobs[0]), JobState::Pending) << "its turn comes when the key is free again";
  bench.worker("w1").takes(jobs[1]).finishes(jobs[1]);
  EXPECT_EQ(bench.state(jobs[0]), JobState::Scheduled);
}

TEST(ConcurrencyKey, TakesTheLimitOfTheLastWriter) {
  Bench bench;
  bench.worker("w1").joins(10);
  auto jobs = submit(bench, 3, a_job().key("db", 3));
  EXPECT_EQ(active(bench, jobs).size(), 3u);
  jobs.push_back(bench.submit(a_job().key("db", 1)));
  EXPECT_EQ(active(bench, jobs).size(), 3u) << "what runs goes on";
  for (int i = 0; i < 2; ++i) bench.worker("w1").takes(jobs[i]).finishes(jobs[i]);
  EXPECT_EQ(active(bench, jobs), std::vector{jobs[2]});
  bench.worker("w1").takes(jobs[2]).finishes(jobs[2]);
  EXPECT_EQ(active(bench, jobs), std::vector{jobs[3]});
}

TEST(ConcurrencyKey, WakesAsManyAsARaisedLimitLetsRunOldestFirst) {
  Bench bench;
  bench.worker("w1").joins(10);
  auto jobs = submit(bench, 5, a_job().key("db", 1));
  jobs.push_back(bench.submit(a_job().key("db", 4)));
  EXPECT_EQ(active(bench, jobs), (std::vector{jobs[0], jobs[1], jobs[2], jobs[3]}));
}

TEST(ConcurrencyKey, KeepsItsLimitForJobsThatGiveNone) {
  Bench bench;
  bench.worker("w1").joins(10);
  auto jobs = submit(bench, 1, a_job().key("db", 3));
  for (const JobId job : submit(bench, 3, a_job().key("db"))) jobs.push_back(job);
  EXPECT_EQ(active(bench, jobs).size(), 3u);
}

TEST(ConcurrencyKey, IsForgottenWhenItsLastJobHasEnded) {
  Bench bench;
  bench.worker("w1").joins(10);
  const auto jobs = submit(bench, 2, a_job().key("db", 1));
  bench.worker("w1").takes(jobs[0]).finishes(jobs[0]);
  EXPECT_EQ(bench.rows.limits.size(), 1u);
  bench.worker("w1").takes(jobs[1]).finishes(jobs[1]);
  EXPECT_TRUE(bench.rows.limits.empty());
  EXPECT_TRUE(bench.engine().modules().placement.keys.all().empty());
}

TEST(ConcurrencyKey, LetsAMoreUrgentJobOfTheKeyGoFirst) {
  Bench bench;
  bench.worker("w1").joins(10);
  const JobId first = bench.submit(a_job().key("db", 1));
  const JobId normal = bench.submit(a_job().key("db"));
  const JobId urgent = bench.submit(a_job().key("db").priority(Priority::Critical));
  bench.worker("w1").takes(first).finishes(first);
  EXPECT_EQ(bench.state(urgent), JobState::Scheduled);
  EXPECT_EQ(bench.state(normal), JobState::Pending);
}

TEST(ConcurrencyKey, DoesNotLetItsJobsOvertakeAMoreUrgentOneForTheFreedSlot) {
  Bench bench;
  bench.worker("w1").joins(1);
  const auto jobs = submit(bench, 2, a_job().key("db", 1));
  const JobId urgent = bench.submit(a_job().priority(Priority::Critical));
  bench.worker("w1").takes(jobs[0]).finishes(jobs[0]);
  EXPECT_EQ(bench.state(urgent), JobState::Scheduled);
  EXPECT_EQ(bench.state(jobs[1]), JobState::Pending);
}

TEST(ConcurrencyKey, IsNotKeptFromOthersByAJobThatFitsNowhere) {
  Bench bench;
  bench.worker("w1").joins(10);
  const JobId first = bench.submit(a_job().key("db", 1));
  const JobId homeless = bench.submit(a_job().key("db").pool("nowhere"));
  const JobId fitting = bench.submit(a_job().key("db"));
  bench.worker("w1").takes(first).finishes(first);
  EXPECT_EQ(bench.state(homeless), JobState::Pending);
  EXPECT_EQ(bench.state(fitting), JobState::Scheduled);
}

// The lost job is the older one of its lane; the one that waits for the key must not block those without a key.
TEST(ConcurrencyKey, DoesNotHoldUpOthersOfItsLaneWhenAnExecutionIsLost) {
  Bench bench;
  bench.worker("w1").joins(1);
  const auto jobs = submit(bench, 2, a_job().key("db", 1).attempts(2));
  bench.worker("w1").takes(jobs[0]);
  bench.worker("w2").joins(5);
  bench.worker("w1").goes_silent();
  bench.advance(46s);
  EXPECT_EQ(bench.where(jobs[0]), "w2") << "the older one goes first";
  EXPECT_EQ(bench.state(jobs[1]), JobState::Pending);
  const JobId free = bench.submit(a_job());
  EXPECT_EQ(bench.where(free), "w2");
}

TEST(ConcurrencyKey, GoesToAnotherWaitingJobWhenTheOneThatHadItsTurnIsCancelled) {
  Bench bench;
  bench.worker("w1").joins(1);
  const auto jobs = submit(bench, 3, a_job().key("db", 1));
  const JobId urgent = bench.submit(a_job().priority(Priority::Critical));
  bench.worker("w1").takes(jobs[0]).finishes(jobs[0]);  // the key is free, but the slot goes to the urgent one
  bench.cancel(jobs[1]);
  bench.worker("w1").takes(urgent).finishes(urgent);
  EXPECT_EQ(bench.state(jobs[2]), JobState::Scheduled);
}

TEST(ConcurrencyKey, CountsAgainAfterARestart) {
  Bench bench;
  bench.worker("w1").joins(10);
  const auto jobs = submit(bench, 3, a_job().key("db", 1));
  bench.worker("w1").takes(jobs[0]);
  bench.restart();
  bench.worker("w1").returns({{bench.current(jobs[0]), true, false}});
  EXPECT_EQ(active(bench, jobs), std::vector{jobs[0]});
  bench.worker("w1").finishes(jobs[0]);
  EXPECT_EQ(active(bench, jobs), std::vector{jobs[1]});
}

}  // namespace
}  // namespace hodei::core::concurrency_test
