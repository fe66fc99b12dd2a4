// What people set for a concurrency key: a limit that stays, and a rate of starts.
#include <random>

#include "src/core/engine_harness.h"

namespace hodei::core::limit_test {
namespace {

LimitView set_limit(Bench& bench, SetLimit command) {
  command.ns = command.ns.empty() ? "default" : command.ns;
  return bench.ask<LimitViews>(command).limits.at(0);
}

std::vector<JobId> submit(Bench& bench, int n, const JobOrder& order) {
  std::vector<JobId> jobs;
  for (int i = 0; i < n; ++i) jobs.push_back(bench.submit(order));
  return jobs;
}

size_t active(const Bench& bench, const std::vector<JobId>& jobs) {
  return static_cast<size_t>(
      std::count_if(jobs.begin(), jobs.end(), [&](JobId j) { return is_active(bench.state(j)); }));
}

size_t begun(const Bench& bench, const std::vector<JobId>& jobs) {
  return static_cast<size_t>(
      std::count_if(jobs.begin(), jobs.end(), [&](JobId j) { return bench.job(j).executions > 0; }));
}

std::vector<LimitView> limits(Bench& bench) { return bench.ask<LimitViews>(Question{DescribeLimits{}}).limits; }

TEST(Limit, SetByAPersonStaysWhenNoJobUsesTheKey) {
  Bench bench;
  set_limit(bench, {.key = "db", .limit = 3});
  bench.worker("w1").joins(10);
  const JobId job = bench.submit(a_job().key("db"));
  bench.worker("w1").takes(job).finishes(job);
  EXPECT_TRUE(bench.rows.limits.empty());
  EXPECT_EQ(active(bench, submit(bench, 5, a_job().key("db"))), 3u);
  bench.restart();
  EXPECT_EQ(limits(bench).at(0).limit, 3);
}

TEST(Limit, SetByAPersonWinsOverWhatJobsSay) {
  Bench bench;
  set_limit(bench, {.key = "db", .limit = 2});
  bench.worker("w1").joins(10);
  EXPECT_EQ(active(bench, submit(bench, 5, a_job().key("db", 4))), 2u);
}

TEST(Limit, GoesBackToWhatJobsSayWhenItIsRemoved) {
  Bench bench;
  set_limit(bench, {.key = "db", .limit = 2});
  bench.worker("w1").joins(10);
  const auto jobs = submit(bench, 6, a_job().key("db", 4));
  bench.ask<Done>(DropLimit{"default", "db"});
  EXPECT_EQ(active(bench, jobs), 4u);
  EXPECT_TRUE(absl::IsNotFound(bench.refused(DropLimit{"default", "db"})));
}

TEST(Limit, OfNothingLetsEverythingRun) {
  Bench bench;
  bench.worker("w1").joins(10);
  const auto jobs = submit(bench, 6, a_job().key("db"));
  EXPECT_EQ(active(bench, jobs), 1u);
  set_limit(bench, {.key = "db", .limit = 0});
  EXPECT_EQ(active(bench, jobs), 6u);
}

TEST(Limit, WakesItsJobsWhenItIsRaised) {
  Bench bench;
  set_limit(bench, {.key = "db", .limit = 1});
  bench.worker("w1").joins(10);
  const auto jobs = submit(bench, 6, a_job().key("db"));
  set_limit(bench, {.key = "db", .limit = 4});
  EXPECT_EQ(active(bench, jobs), 4u);
}

TEST(Limit, TellsWhatIsHeldAndWhatWaits) {
  Bench bench;
  set_limit(bench, {.ns = "team", .key = "z", .limit = 9, .rate = 2, .burst = 3});
  bench.worker("w1").joins(10);
  submit(bench, 5, a_job().key("db", 2));
  const std::vector<LimitView> all = limits(bench);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].key, "db");
  EXPECT_EQ(all[0].limit, 2);
  EXPECT_EQ(all[0].held, 2);
  EXPECT_EQ(all[0].waiting, 3);
  EXPECT_FALSE(all[0].is_set);
  EXPECT_EQ(all[1].ns, "team");
  EXPECT_EQ(all[1].rate, 2);
  EXPECT_EQ(all[1].burst, 3);
  EXPECT_TRUE(all[1].is_set);
}

TEST(Rate, LetsABurstStartAndThenOneAfterAnother) {
  Bench bench;
  set_limit(bench, {.key = "api", .limit = 0, .rate = 2, .burst = 3});
  bench.worker("w1").joins(50);
  const auto jobs = submit(bench, 10, a_job().key("api"));
  EXPECT_EQ(begun(bench, jobs), 3u);
  EXPECT_EQ(bench.queue().parked, 7);
  bench.advance(499ms);
  EXPECT_EQ(begun(bench, jobs), 3u);
  bench.advance(2ms);
  EXPECT_EQ(begun(bench, jobs), 4u);
  bench.advance(1s);
  EXPECT_EQ(begun(bench, jobs), 6u);
  bench.advance(60s);
  EXPECT_EQ(begun(bench, jobs), 10u);
}

TEST(Rate, OnlyCountsStartsAndLeavesTheLimitToJobs) {
  Bench bench;
  set_limit(bench, {.key = "api", .rate = 100, .burst = 10});
  bench.worker("w1").joins(50);
  EXPECT_EQ(begun(bench, submit(bench, 5, a_job().key("api", 2))), 2u);
}

TEST(Rate, GivesNoFullBurstAgainAfterARestart) {
  Bench bench;
  set_limit(bench, {.key = "api", .limit = 0, .rate = 1, .burst = 5});
  bench.worker("w1").joins(50);
  auto jobs = submit(bench, 20, a_job().key("api"));
  EXPECT_EQ(begun(bench, jobs), 5u);
  bench.restart();
  std::vector<HeldExecution> held;
  for (int i = 0; i < 5; ++i) held.push_back({bench.current(jobs[static_cast<size_t>(i)]), true, false});
  bench.worker("w1").returns(held);
  EXPECT_EQ(begun(bench, jobs), 5u);
  bench.advance(1s);
  EXPECT_EQ(begun(bench, jobs), 6u);
}

TEST(Rate, IsNotFilledAgainBySettingItAgain) {
  Bench bench;
  set_limit(bench, {.key = "api", .limit = 0, .rate = 1, .burst = 2});
  bench.worker("w1").joins(50);
  const auto jobs = submit(bench, 20, a_job().key("api"));
  set_limit(bench, {.key = "api", .rate = 0.5});
  EXPECT_EQ(begun(bench, jobs), 2u);
  bench.advance(2s);
  EXPECT_EQ(begun(bench, jobs), 3u);
}

TEST(Rate, GoesOnWhenWorkersComeLate) {
  Bench bench;
  set_limit(bench, {.key = "api", .limit = 0, .rate = 1, .burst = 3});
  const auto jobs = submit(bench, 12, a_job().key("api"));
  bench.advance(60s);
  bench.worker("w1").joins(1);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(begun(bench, jobs), i + 1);
    bench.worker("w1").takes(jobs[i]).finishes(jobs[i]);
    bench.advance(1s);
  }
}

TEST(Rate, KeepsADirectAssignmentFromPassingIt) {
  Bench bench;
  set_limit(bench, {.key = "api", .limit = 0, .rate = 1, .burst = 1});
  bench.worker("w1").joins(10);
  const auto jobs = submit(bench, 2, a_job().key("api"));
  const absl::Status refused = bench.refused(Assign{jobs[1], WorkerId("w1")});
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_NE(refused.message().find("over its rate"), std::string::npos) << refused;
}

TEST(Rate, IsWhatAWaitingJobIsExplainedWith) {
  Bench bench;
  set_limit(bench, {.key = "api", .limit = 0, .rate = 0.5, .burst = 1});
  bench.worker("w1").joins(10);
  const auto jobs = submit(bench, 2, a_job().key("api"));
  const std::string text = bench.explain(jobs[1]).waiting_for;
  EXPECT_NE(text.find("over its rate of 30 starts per minute"), std::string::npos) << text;
  EXPECT_NE(text.find(format_utc(bench.now.wall + 2s)), std::string::npos) << text;
}

TEST(Limit, IsWhatListsSayOfAWaitingJob) {
  Bench bench;
  set_limit(bench, {.key = "api", .limit = 0, .rate = 0.5, .burst = 1});
  bench.worker("w1").joins(10);
  const auto rated = submit(bench, 2, a_job().key("api"));
  const auto keyed = submit(bench, 2, a_job().key("db"));
  const std::vector<std::string> reasons =
      bench.ask<WaitReasons>(Question{WhyWaiting{{rated[1], keyed[1], keyed[0]}}}).reasons;
  ASSERT_EQ(reasons.size(), 3u);
  EXPECT_NE(reasons[0].find("'api' is over its rate of 30 starts per minute"), std::string::npos) << reasons[0];
  EXPECT_NE(reasons[1].find("'db' is at its limit of 1"), std::string::npos) << reasons[1];
  EXPECT_EQ(reasons[2], "") << "it is with a worker";
}

TEST(Limit, IsNotWhatListsSayOfAJobInBackOff) {
  Bench bench;
  Hand worker = bench.worker("w1").joins(1);
  const JobId failed = bench.submit(a_job().key("db", 1).attempts(2).backoff(10s));
  worker.takes(failed).fails(failed);
  const JobId next = bench.submit(a_job().key("db", 1));
  worker.takes(next);
  EXPECT_EQ(bench.ask<WaitReasons>(Question{WhyWaiting{{failed}}}).reasons, std::vector<std::string>{""});
}

TEST(Rate, IsToldInTheUnitThatPeopleSetItIn) {
  for (const auto& [rate, text] : {std::pair(5.0, "5 starts per second"),
                                   {1.0 / 3600, "1 start per hour"},
                                   {2.5 / 60, "2.5 starts per minute"},
                                   {1.0 / 86400, "1 start per day"}}) {
    Bench bench;
    set_limit(bench, {.key = "api", .limit = 0, .rate = rate, .burst = 1});
    bench.worker("w1").joins(10);
    const auto jobs = submit(bench, 2, a_job().key("api"));
    const std::string told = bench.explain(jobs[1]).waiting_for;
    EXPECT_NE(told.find(cat("over its rate of ", text, " until")), std::string::npos) << told;
  }
}

TEST(Rate, RefusesABurstWithoutARate) {
  Bench bench;
  EXPECT_TRUE(absl::IsInvalidArgument(bench.refused(SetLimit{.ns = "default", .key = "k", .burst = 3})));
  EXPECT_TRUE(absl::IsInvalidArgument(bench.refused(SetLimit{.ns = "default", .key = "k"})));
}

TEST(Rate, IsReachedAndNeverPassedWhateverComes) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(cat("seed ", seed));
    std::mt19937_64 random(seed);
    Bench bench;
    const double rate = static_cast<double>(random() % 90 + 10) / 10;
    const auto burst = static_cast<int64_t>(random() % 5) + 1;
    set_limit(bench, {.key = "api", .limit = 0, .rate = rate, .burst = burst});
    bench.worker("w1").joins(200);
    const auto jobs = submit(bench, 80, a_job().key("api"));
    const size_t before = begun(bench, jobs);
    EXPECT_EQ(before, static_cast<size_t>(burst));
    const double seconds = static_cast<double>(random() % 50 + 10) / 10;
    bench.advance(Duration(static_cast<int64_t>(seconds * 1e6)));
    const double expected = std::min(80.0, static_cast<double>(burst) + seconds * rate);
    EXPECT_NEAR(static_cast<double>(begun(bench, jobs)), expected, 1.01);
  }
}

}  // namespace
}  // namespace hodei::core::limit_test
