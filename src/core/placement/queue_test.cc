// The order of the queue: strict between classes, fair between tenants, by age inside a tenant; and who gets a job.
#include <limits>

#include "src/core/engine_harness.h"

namespace hodei::core::queue_test {
namespace {

// Lets a one-slot worker run everything that waits, and says in which order it did.
std::vector<JobId> run_all(Bench& bench, const std::string& worker, size_t n) {
  std::vector<JobId> order;
  for (size_t i = 0; i < n; ++i) {
    const auto& executions = bench.worker(worker).live().executions;
    if (executions.empty()) break;
    const JobId job = executions.begin()->job;
    order.push_back(job);
    bench.worker(worker).takes(job).finishes(job);
  }
  return order;
}

TEST(Queue, ServesAMoreUrgentClassFirst) {
  Bench bench;
  const JobId low = bench.submit(a_job().priority(Priority::Low));
  const JobId normal = bench.submit(a_job());
  const JobId high = bench.submit(a_job().priority(Priority::High));
  const JobId critical = bench.submit(a_job().priority(Priority::Critical));
  bench.worker("w1").joins(1);
  EXPECT_EQ(run_all(bench, "w1", 4), (std::vector{critical, high, normal, low}));
}

TEST(Queue, IsFirstInFirstOutInsideALane) {
  Bench bench;
  std::vector<JobId> jobs;
  for (int i = 0; i < 20; ++i) jobs.push_back(bench.submit(a_job()));
  bench.worker("w1").joins(1);
  EXPECT_EQ(run_all(bench, "w1", 20), jobs);
}

TEST(Queue, KeepsTheOrderOfSubmissionAcrossARestart) {
  Bench bench;
  std::vector<JobId> jobs;
  for (int i = 0; i < 20; ++i) jobs.push_back(bench.submit(a_job()));
  bench.restart();
  bench.worker("w1").joins(1);
  EXPECT_EQ(run_all(bench, "w1", 20), jobs);
}

TEST(Queue, PutsALostJobBackInItsOldPlace) {
  Bench bench;
  const JobId first = bench.submit(a_job().attempts(2));
  bench.worker("w1").joins(1).takes(first);
  const JobId second = bench.submit(a_job());
  bench.worker("w1").finishes(first, Outcome::Lost);
  EXPECT_EQ(bench.state(first), JobState::Scheduled);
  EXPECT_EQ(bench.state(second), JobState::Pending);
}

TEST(Queue, RotatesOverTenants) {
  Bench bench;
  std::map<JobId, std::string> owner;
  for (const char* ns : {"a", "b", "c"}) {
    for (int i = 0; i < (ns == std::string("a") ? 30 : 4); ++i) owner[bench.submit(a_job().in(ns))] = ns;
  }
  bench.worker("w1").joins(1);
  std::map<std::string, int> served;
  for (const JobId job : run_all(bench, "w1", 12)) ++served[owner[job]];
  EXPECT_EQ(served, (std::map<std::string, int>{{"a", 4}, {"b", 4}, {"c", 4}}));
}

TEST(Queue, GivesATenantNoCreditForHavingBeenIdle) {
  Bench bench;
  std::map<JobId, std::string> owner;
  for (int i = 0; i < 40; ++i) owner[bench.submit(a_job().in("busy"))] = "busy";
  bench.worker("w1").joins(1);
  run_all(bench, "w1", 20);
  for (int i = 0; i < 20; ++i) owner[bench.submit(a_job().in("late"))] = "late";
  std::map<std::string, int> served;
  for (const JobId job : run_all(bench, "w1", 10)) ++served[owner[job]];
  EXPECT_LE(served["late"], 6);
  EXPECT_GE(served["late"], 4);
}

// One tenant's job fitted nowhere for long; when it is placed at last, nobody else may profit or lose by its old turn.
TEST(Queue, GivesANewTenantNoCreditWhenAnotherIsServedLate) {
  Bench bench;
  std::map<JobId, std::string> owner;
  owner[bench.submit(a_job().in("stuck").pool("rare"))] = "stuck";
  for (int i = 0; i < 60; ++i) owner[bench.submit(a_job().in("busy"))] = "busy";
  bench.worker("w1").joins(1);
  run_all(bench, "w1", 30);
  bench.worker("w2").joins(a_worker().slots(1).label("pool", "rare").taint({"rare", "", TaintEffect::NoSchedule}));
  bench.worker("w3").joins(a_worker().slots(1).label("pool", "rare"));
  for (int i = 0; i < 30; ++i) owner[bench.submit(a_job().in("late"))] = "late";
  std::map<std::string, int> served;
  for (const JobId job : run_all(bench, "w1", 20)) ++served[owner[job]];
  EXPECT_GE(served["busy"], 8);
  EXPECT_GE(served["late"], 8);
}

TEST(Queue, TriesOfATenantsShapesTheOneThatWaitsLongest) {
  Bench bench;
  const JobId big = bench.submit(a_job().cores(4));
  const JobId small = bench.submit(a_job().cores(1));
  const JobId big_too = bench.submit(a_job().cores(4));
  bench.worker("w1").joins(a_worker().slots(1));
  EXPECT_EQ(run_all(bench, "w1", 3), (std::vector{big, small, big_too}));
}

TEST(Queue, IsNotBlockedByAShapeThatFitsNowhere) {
  Bench bench;
  const JobId homeless = bench.submit(a_job().pool("nowhere").priority(Priority::Critical));
  const JobId too_big = bench.submit(a_job().cores(1000).priority(Priority::Critical));
  bench.worker("w1").joins(1);
  const JobId plain = bench.submit(a_job());
  EXPECT_EQ(bench.where(plain), "w1");
  EXPECT_EQ(bench.state(homeless), JobState::Pending);
  EXPECT_EQ(bench.state(too_big), JobState::Pending);
}

TEST(Queue, LetsSmallJobsThroughWhileALargeOneWaitsForRoom) {
  Bench bench;
  bench.worker("w1").joins(a_worker().slots(10).cores(4));
  const JobId half = bench.submit(a_job().cores(3));
  const JobId large = bench.submit(a_job().cores(4));
  const JobId small = bench.submit(a_job().cores(1));
  EXPECT_EQ(bench.state(half), JobState::Scheduled);
  EXPECT_EQ(bench.state(large), JobState::Pending);
  EXPECT_EQ(bench.state(small), JobState::Scheduled);
}

TEST(JoiningWorker, WakesExactlyWhatFitsOnIt) {
  Bench bench;
  const JobId plain = bench.submit(a_job());
  const JobId gpu_pool = bench.submit(a_job().pool("gpu"));
  const JobId imaged = bench.submit(a_job().image("debian:12"));
  bench.worker("w1").joins(a_worker().slots(10).label("pool", "gpu"));
  EXPECT_EQ(bench.where(plain), "w1");
  EXPECT_EQ(bench.where(gpu_pool), "w1");
  EXPECT_EQ(bench.state(imaged), JobState::Pending);
  bench.worker("w2").joins(a_worker().slots(10).image("debian:12"));
  EXPECT_EQ(bench.where(imaged), "w2");
}

TEST(JoiningWorker, FillsItsSlotsAndNoMore) {
  Bench bench;
  std::vector<JobId> jobs;
  for (int i = 0; i < 5; ++i) jobs.push_back(bench.submit(a_job()));
  bench.worker("w1").joins(3);
  EXPECT_EQ(bench.told<RunExecution>().size(), 3u);
  EXPECT_EQ(bench.worker("w1").live().state, WorkerState::Busy);
}

TEST(BestWorker, IsTheOneWithMostRoom) {
  Bench bench;
  bench.worker("w1").joins(4);
  bench.worker("w2").joins(4);
  std::map<std::string, int> jobs;
  for (int i = 0; i < 4; ++i) ++jobs[bench.where(bench.submit(a_job().cores(1)))];
  EXPECT_EQ(jobs, (std::map<std::string, int>{{"w1", 2}, {"w2", 2}}));
}

TEST(BestWorker, HasTheLowerLoad) {
  Bench bench;
  bench.worker("w1").joins(4).beats(0.9);
  bench.worker("w2").joins(4).beats(0.1);
  EXPECT_EQ(bench.where(bench.submit(a_job())), "w2");
}

TEST(BestWorker, IsInThePreferredZoneEvenIfItIsBusier) {
  Bench bench;
  bench.worker("w1").joins(a_worker().slots(4).label("zone", "a"));
  bench.worker("w2").joins(a_worker().slots(4).label("zone", "b"));
  EXPECT_EQ(bench.where(bench.submit(a_job().zone("b"))), "w2");
  EXPECT_EQ(bench.where(bench.submit(a_job().zone("b"))), "w2");
}

TEST(BestWorker, IsOfThePreferredProvider) {
  Bench bench;
  bench.worker("w1").joins(a_worker().slots(4));
  bench.worker("w2").joins(a_worker().slots(4).provider("docker"));
  EXPECT_EQ(bench.where(bench.submit(a_job().likes_provider("docker"))), "w2");
}

TEST(BestWorker, HasTheBetterHistory) {
  Bench bench;
  bench.worker("w1").joins(1);
  for (int i = 0; i < 5; ++i) {
    const JobId job = bench.submit(a_job());
    bench.worker("w1").takes(job).fails(job);
  }
  bench.worker("w2").joins(1);
  EXPECT_EQ(bench.where(bench.submit(a_job())), "w2");
}

TEST(BestWorker, AmongEqualsIsTheOneThatJoinedFirst) {
  for (int round = 0; round < 3; ++round) {
    Bench bench;
    bench.worker("zeta").joins(2);
    bench.worker("alpha").joins(2);
    EXPECT_EQ(bench.where(bench.submit(a_job())), "zeta");
  }
}

TEST(Decision, KeepsTheScoreAndWhoWasTurnedAwayByWhichRule) {
  Bench bench;
  bench.worker("w1").joins(a_worker().slots(2).label("pool", "gpu"));
  bench.worker("w2").joins(2);
  bench.worker("w3").joins(2);
  const JobId job = bench.submit(a_job().pool("gpu"));
  const Decision& decision = bench.job(job).past->executions.at(0).decision;
  EXPECT_EQ(decision.winner, WorkerId("w1"));
  EXPECT_EQ(decision.considered, 3u);
  EXPECT_EQ(decision.rejected, (std::vector<RuleCount>{{"pool", 2}}));
  EXPECT_DOUBLE_EQ(decision.score.total(), 65) << "it prefers nothing";
}

TEST(Decision, CountsWorkersWithoutRoom) {
  Bench bench;
  bench.worker("w1").joins(1);
  bench.submit(a_job());
  bench.worker("w2").joins(1);
  const JobId job = bench.submit(a_job());
  EXPECT_EQ(bench.job(job).past->executions.at(0).decision.rejected, (std::vector<RuleCount>{{"room", 1}}));
}

TEST(Scheduler, KeepsOnlyWorkersAboveTheThreshold) {
  Bench bench;
  bench.ask<SchedulerConfig>(ConfigureScheduler{.threshold = 60});
  bench.worker("w1").joins(4).beats(1.0);
  const JobId job = bench.submit(a_job());
  EXPECT_EQ(bench.state(job), JobState::Pending) << "it scores below 60";
  bench.ask<SchedulerConfig>(ConfigureScheduler{.threshold = 50});
  EXPECT_EQ(bench.state(job), JobState::Scheduled) << "a changed setting counts at once";
}

TEST(Scheduler, PlacesAWaitingJobWhenTheLoadOfAWorkerFallsBelowTheThreshold) {
  Bench bench;
  bench.ask<SchedulerConfig>(ConfigureScheduler{.threshold = 60});
  bench.worker("w1").joins(4).beats(1.0);
  const JobId job = bench.submit(a_job());
  EXPECT_EQ(bench.state(job), JobState::Pending);
  bench.worker("w1").beats(0.0);
  EXPECT_EQ(bench.state(job), JobState::Scheduled);
}

TEST(Scheduler, WeighsThePartsAsConfigured) {
  Bench bench;
  bench.ask<SchedulerConfig>(ConfigureScheduler{.capacity = 0, .load = 0, .affinity = 0, .zone = 100, .history = 0});
  bench.worker("w1").joins(a_worker().slots(4).label("zone", "a"));
  const JobId job = bench.submit(a_job().zone("a"));
  EXPECT_EQ(bench.job(job).past->executions.at(0).decision.score, (Score{0, 0, 0, 100, 0}));
}

TEST(Scheduler, RefusesSettingsThatMakeNoSenseAndNamesThem) {
  Bench bench;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::pair<ConfigureScheduler, const char*> cases[] = {{{.capacity = -1}, "weight_capacity"},
                                                              {{.load = 1001}, "weight_load"},
                                                              {{.affinity = nan}, "weight_affinity"},
                                                              {{.zone = -0.5}, "weight_zone"},
                                                              {{.history = 1e9}, "weight_history"},
                                                              {{.threshold = -1}, "threshold"},
                                                              {{.strategy = static_cast<Strategy>(6)}, "strategy"}};
  for (const auto& [command, field] : cases) {
    const absl::Status status = bench.refused(command);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << field;
    EXPECT_EQ(status.message().substr(0, std::string_view(field).size()), field) << status;
  }
  EXPECT_FALSE(bench.rows.scheduler) << "nothing was changed";
}

TEST(Scheduler, KeepsItsSettingsOverARestart) {
  Bench bench;
  bench.ask<SchedulerConfig>(ConfigureScheduler{.zone = 42});
  bench.restart();
  EXPECT_DOUBLE_EQ(bench.ask<SchedulerConfig>(ConfigureScheduler{}).zone, 42);
}

TEST(Queue, TellsHowManyOlderJobsOfTheClassAreAheadOfOne) {
  Bench bench;
  bench.checks = false;  // of each of thousands of jobs
  std::vector<JobId> normal;
  for (int i = 0; i < 2'500; ++i) {
    normal.push_back(bench.submit(a_job()));
    if (i % 5 == 0) bench.submit(a_job().priority(Priority::High));
  }
  EXPECT_EQ(bench.explain(normal[0]).jobs_ahead, 0);
  EXPECT_EQ(bench.explain(normal[900]).jobs_ahead, 900);
  EXPECT_EQ(bench.explain(normal[2'499]).jobs_ahead, 2'499);
  for (int i = 0; i < 1'500; ++i) bench.cancel(normal[static_cast<size_t>(i)]);
  EXPECT_EQ(bench.explain(normal[2'499]).jobs_ahead, 999);
  bench.restart();
  EXPECT_EQ(bench.explain(normal[2'499]).jobs_ahead, 999);
}

}  // namespace
}  // namespace hodei::core::queue_test
