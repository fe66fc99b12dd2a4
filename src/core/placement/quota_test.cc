// Quotas of tenants: at most so much with workers, at most so many waiting.
#include "src/core/engine_harness.h"

namespace hodei::core::quota_test {
namespace {

void quota(Bench& bench, SetTenant command) { bench.ask<TenantViews>(command); }

size_t active(const Bench& bench, const std::vector<JobId>& jobs) {
  return static_cast<size_t>(
      std::count_if(jobs.begin(), jobs.end(), [&](JobId j) { return is_active(bench.state(j)); }));
}

std::vector<JobId> submit(Bench& bench, int n, const JobOrder& order) {
  std::vector<JobId> jobs;
  for (int i = 0; i < n; ++i) jobs.push_back(bench.submit(order));
  return jobs;
}

TEST(Quota, LetsOnlySoManyExecutionsRun) {
  Bench bench;
  quota(bench, {.ns = "a", .max_running = 2});
  bench.worker("w1").joins(10);
  const auto jobs = submit(bench, 4, a_job().in("a"));
  EXPECT_EQ(active(bench, jobs), 2u);
  const JobId other = bench.submit(a_job().in("b"));
  EXPECT_EQ(bench.state(other), JobState::Scheduled) << "others are not held up";
}

TEST(Quota, CountsCpuAndMemoryOfWhatRuns) {
  Bench bench;
  quota(bench, {.ns = "a", .max_cpu_milli = 3000});
  quota(bench, {.ns = "b", .max_memory_mb = 1000});
  bench.worker("w1").joins(20);
  EXPECT_EQ(active(bench, submit(bench, 5, a_job().in("a").cores(1))), 3u);
  EXPECT_EQ(active(bench, submit(bench, 5, a_job().in("b").memory(400))), 2u);
}

TEST(Quota, LetsASmallerJobPassALargerOneThatIsOverIt) {
  Bench bench;
  quota(bench, {.ns = "a", .max_cpu_milli = 3000});
  bench.worker("w1").joins(20);
  const JobId first = bench.submit(a_job().in("a").cores(2));
  const JobId large = bench.submit(a_job().in("a").cores(2));
  const JobId small = bench.submit(a_job().in("a").cores(1));
  EXPECT_EQ(active(bench, {first, large, small}), 2u);
  EXPECT_EQ(bench.state(large), JobState::Pending);
}

TEST(Quota, WakesTheTenantWhenOneOfItsExecutionsEnds) {
  Bench bench;
  quota(bench, {.ns = "a", .max_running = 1});
  bench.worker("w1").joins(1);
  const auto jobs = submit(bench, 3, a_job().in("a"));
  bench.worker("w2").joins(a_worker().slots(4).label("pool", "gpu"));
  const JobId elsewhere = bench.submit(a_job().in("a").pool("gpu").priority(Priority::High));
  bench.worker("w1").takes(jobs[0]);
  const JobId other = bench.submit(a_job().in("b").priority(Priority::Critical));  // takes w2 or waits for w1
  bench.worker("w1").finishes(jobs[0]);
  EXPECT_EQ(active(bench, {jobs[1], jobs[2], elsewhere}), 1u);
  EXPECT_TRUE(is_active(bench.state(other)));
}

// The place that became free is not where it fits.
TEST(Quota, WakesTheTenantForAWorkerThatWasFreeAllTheTime) {
  Bench bench;
  quota(bench, {.ns = "a", .max_running = 1});
  bench.worker("w1").joins(1);
  const JobId first = bench.submit(a_job().in("a"));
  bench.worker("w2").joins(a_worker().slots(1).label("pool", "gpu"));
  const JobId second = bench.submit(a_job().in("a").pool("gpu"));
  EXPECT_EQ(bench.state(second), JobState::Pending);
  bench.worker("w1").takes(first).finishes(first);
  EXPECT_EQ(bench.where(second), "w2");
}

TEST(Quota, WakesTheTenantWhenItIsRaisedOrLifted) {
  Bench bench;
  quota(bench, {.ns = "a", .max_running = 1});
  bench.worker("w1").joins(10);
  const auto jobs = submit(bench, 6, a_job().in("a"));
  quota(bench, {.ns = "a", .max_running = 3});
  EXPECT_EQ(active(bench, jobs), 3u);
  quota(bench, {.ns = "a", .max_running = 0});
  EXPECT_EQ(active(bench, jobs), 6u);
}

TEST(Quota, EndsNothingThatRunsWhenItIsLowered) {
  Bench bench;
  bench.worker("w1").joins(10);
  const auto jobs = submit(bench, 3, a_job().in("a"));
  quota(bench, {.ns = "a", .max_running = 1});
  EXPECT_EQ(active(bench, jobs), 3u);
  const JobId next = bench.submit(a_job().in("a"));
  for (int i = 0; i < 2; ++i) bench.worker("w1").takes(jobs[i]).finishes(jobs[i]);
  EXPECT_EQ(bench.state(next), JobState::Pending);
  bench.worker("w1").takes(jobs[2]).finishes(jobs[2]);
  EXPECT_EQ(bench.state(next), JobState::Scheduled);
}

TEST(Quota, IsHeldByAJobThatRunsThroughARestart) {
  Bench bench;
  quota(bench, {.ns = "a", .max_running = 1, .max_cpu_milli = 5000});
  bench.worker("w1").joins(10);
  const auto jobs = submit(bench, 2, a_job().in("a").cores(2));
  bench.worker("w1").takes(jobs[0]);
  bench.restart();
  const TenantView view = bench.ask<TenantViews>(Question{DescribeTenants{"a"}}).tenants.at(0);
  EXPECT_EQ(view.running, 1);
  EXPECT_EQ(view.pending, 1);
  EXPECT_EQ(view.used.cpu_milli, 2000);
  bench.worker("w1").returns({{bench.current(jobs[0]), true, false}});
  EXPECT_EQ(bench.state(jobs[1]), JobState::Pending);
  bench.worker("w1").finishes(jobs[0]);
  EXPECT_EQ(bench.state(jobs[1]), JobState::Scheduled);
}

TEST(Quota, IsHeldWhileAWorkerIsSilentAndFreedWhenItsLeaseHasEnded) {
  Bench bench;
  quota(bench, {.ns = "a", .max_running = 1});
  bench.worker("w1").joins(1);
  const auto jobs = submit(bench, 2, a_job().in("a"));
  bench.worker("w2").joins(1);
  bench.worker("w1").takes(jobs[0]).goes_silent();
  bench.advance(44s);
  EXPECT_EQ(bench.state(jobs[1]), JobState::Pending);
  bench.advance(2s);
  EXPECT_EQ(bench.where(jobs[1]), "w2");
}

TEST(Quota, KeepsADirectAssignmentFromPassingIt) {
  Bench bench;
  quota(bench, {.ns = "a", .max_running = 1});
  bench.worker("w1").joins(10);
  const auto jobs = submit(bench, 2, a_job().in("a"));
  const absl::Status refused = bench.refused(Assign{jobs[1], WorkerId("w1")});
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_NE(refused.message().find("max_running"), std::string::npos) << refused;
}

TEST(Quota, OfWaitingJobsRefusesWithItsNameTheTenantAndTheCommand) {
  Bench bench;
  quota(bench, {.ns = "a", .max_pending = 2});
  submit(bench, 2, a_job().in("a"));
  const absl::Status refused = bench.refused(Submit{{a_job().in("a").made()}});
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  for (const char* word : {"'a'", "max_pending", "hodei tenant set a --max-pending"}) {
    EXPECT_NE(refused.message().find(word), std::string::npos) << refused;
  }
  EXPECT_EQ(bench.rows.jobs.size(), 2u);
  bench.submit(a_job().in("b"));
  quota(bench, {.ns = "a", .max_pending = 3});
  bench.submit(a_job().in("a"));
}

TEST(Quota, OfWaitingJobsTakesAllOfABatchOrNone) {
  Bench bench;
  quota(bench, {.ns = "a", .max_pending = 2});
  Submit batch;
  for (int i = 0; i < 3; ++i) batch.jobs.push_back(a_job().in("a").made());
  EXPECT_TRUE(absl::IsResourceExhausted(bench.refused(batch)));
  EXPECT_TRUE(bench.rows.jobs.empty());
}

TEST(Quota, OfWaitingJobsGivesWhoAsksAgainTheSameJob) {
  Bench bench;
  quota(bench, {.ns = "a", .max_pending = 1});
  const JobId job = bench.submit(a_job().in("a").idempotent("once"));
  EXPECT_EQ(bench.submit(a_job().in("a").idempotent("once")), job);
}

TEST(Quota, IsWhatAWaitingJobIsExplainedWith) {
  Bench bench;
  quota(bench, {.ns = "a", .max_running = 5, .max_cpu_milli = 2500});
  bench.worker("w1").joins(10);
  const auto jobs = submit(bench, 2, a_job().in("a").cores(2));
  const std::string text = bench.explain(jobs[1]).waiting_for;
  for (const char* word : {"max_cpu_cores of 2.5", "use 2", "needs 2", "hodei tenant set a --max-cpu"}) {
    EXPECT_NE(text.find(word), std::string::npos) << text;
  }
}

TEST(Quota, IsWhatListsSayOfAWaitingJob) {
  Bench bench;
  quota(bench, {.ns = "a", .max_running = 1});
  bench.worker("w1").joins(1);
  const auto jobs = submit(bench, 2, a_job().in("a"));
  const JobId other = bench.submit(a_job().in("b"));
  const std::vector<std::string> reasons =
      bench.ask<WaitReasons>(Question{WhyWaiting{{jobs[0], jobs[1], other, JobId{404}}}}).reasons;
  ASSERT_EQ(reasons.size(), 4u);
  EXPECT_EQ(reasons[0], "") << "it is with a worker";
  EXPECT_EQ(reasons[1], bench.explain(jobs[1]).waiting_for);
  EXPECT_NE(reasons[1].find("tenant 'a' is at its quota max_running: 1 of 1"), std::string::npos) << reasons[1];
  EXPECT_EQ(reasons[2], "") << "nothing but a worker is missing";
  EXPECT_EQ(reasons[3], "") << "there is none";
}

TEST(Quota, OfMemoryIsToldInUnitsThatPeopleRead) {
  Bench bench;
  quota(bench, {.ns = "a", .max_memory_mb = 24105});
  bench.worker("w1").joins(a_worker().slots(10).memory(100'000));
  const auto jobs = submit(bench, 2, a_job().in("a").memory(16384));
  const std::string text = bench.explain(jobs[1]).waiting_for;
  for (const char* word : {"max_memory_mb of 23.5 GiB", "use 16 GiB", "needs 16 GiB"}) {
    EXPECT_NE(text.find(word), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace hodei::core::quota_test
