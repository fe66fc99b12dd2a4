// Workers that are stopped: nothing of what they had is lost, and nothing of it counts.
#include <tuple>

#include "gmock/gmock.h"
#include "src/core/engine_harness.h"
#include "src/core/jobs/retry.h"

namespace hodei::core {
namespace {

Report ended(ExecutionId execution, Outcome outcome, WallTime started = {}) {
  ResultReport result;
  result.execution = execution;
  result.outcome = outcome;
  result.started = started;
  result.failure = "interrupted";
  return {.results = {result}};
}

TEST(StoppingWorker, GetsNothingNewAndIsToldThatItIsKnown) {
  Bench bench;
  Hand worker = bench.worker("w1").joins(2).stops();
  ASSERT_EQ(bench.told<NoteStop>().size(), 1u);
  EXPECT_EQ(bench.told<NoteStop>()[0].stream, worker.stream());
  const JobId job = bench.submit(a_job());
  EXPECT_EQ(bench.state(job), JobState::Pending);
  EXPECT_EQ(bench.explain(job).rejected.at(0).rule, "state");
  bench.worker("w2").joins();
  EXPECT_EQ(bench.where(job), "w2");
}

TEST(StoppingWorker, GivesBackWhatItNeverStartedAtOnceAndWithoutCounting) {
  Bench bench;
  Hand worker = bench.worker("w1").joins(2);
  const JobId job = bench.submit(a_job());
  worker.stops();
  ASSERT_TRUE(worker.reports(ended(bench.current(job), Outcome::Interrupted)).ok());
  EXPECT_EQ(bench.state(job), JobState::Pending);
  EXPECT_EQ(bench.job(job).attempts, 0u);
  EXPECT_EQ(bench.job(job).lost_dispatches, 1u);
  const Execution& first = bench.job(job).past->executions.back();
  EXPECT_EQ(first.failure, "interrupted");
  EXPECT_THAT(first.reason, testing::HasSubstr("not started: worker w1 was stopped"));
  bench.worker("w2").joins();
  EXPECT_EQ(bench.where(job), "w2") << "another one has it without any wait";
}

TEST(StoppingWorker, InterruptsWhatItRunsAndThatIsNoAttempt) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job().attempts(1));
  worker.takes(job);
  EXPECT_EQ(bench.job(job).attempts, 1u);
  worker.stops();
  ASSERT_TRUE(worker.reports(ended(bench.current(job), Outcome::Interrupted, bench.now.wall)).ok());
  EXPECT_EQ(bench.state(job), JobState::Pending);
  EXPECT_EQ(bench.job(job).attempts, 0u);
  EXPECT_THAT(bench.history(job).back().reason, testing::HasSubstr("interrupted: worker w1 was stopped"));
  worker.closes().restarts().takes(job).finishes(job);
  EXPECT_EQ(bench.state(job), JobState::Succeeded);
  EXPECT_EQ(bench.job(job).attempts, 1u);
}

TEST(StoppingWorker, LetsWhatRunsEndAsItDoes) {
  Bench bench;
  Hand worker = bench.worker("w1").joins(2);
  const JobId good = bench.submit(a_job());
  const JobId bad = bench.submit(a_job());
  worker.takes(good).takes(bad).stops().finishes(good).fails(bad);
  EXPECT_EQ(bench.state(good), JobState::Succeeded);
  EXPECT_EQ(bench.state(bad), JobState::Failed);
}

TEST(StoppingWorker, EndsWhatAPersonWantedToEnd) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job());
  worker.takes(job);
  bench.cancel(job);
  worker.stops();
  ASSERT_TRUE(worker.reports(ended(bench.current(job), Outcome::Interrupted, bench.now.wall)).ok());
  EXPECT_EQ(bench.state(job), JobState::Cancelled);
}

TEST(StoppingWorker, CountsNoAttemptEvenWhenItsLastWordsAreLost) {
  Bench bench;
  Hand worker = bench.worker("w1").joins(2);
  const JobId ran = bench.submit(a_job().attempts(1));
  const JobId sent = bench.submit(a_job().attempts(1));
  worker.takes(ran).stops().closes();
  EXPECT_EQ(bench.state(ran), JobState::Running) << "nothing proves its end yet";
  worker.restarts();
  EXPECT_EQ(bench.state(ran), JobState::Scheduled) << "its successor has killed what was left: it runs again";
  EXPECT_EQ(bench.state(sent), JobState::Scheduled);
  EXPECT_EQ(bench.job(ran).attempts, 0u);
}

TEST(StoppingWorker, IsNotUnhealthyWhenItIsGoneAndIsReadyWhenItIsBack) {
  Bench bench;
  Hand worker = bench.worker("w1").joins().stops();
  EXPECT_EQ(worker.live().shown_state(), WorkerState::Draining);
  worker.closes();
  bench.advance(std::chrono::hours(25));
  EXPECT_FALSE(worker.live().unhealthy);
  EXPECT_TRUE(bench.ask<WorkerViews>(Question{DescribeWorkers{"w1", true}}).workers.at(0).stopped);
  worker.restarts();
  EXPECT_EQ(worker.live().shown_state(), WorkerState::Ready);
  EXPECT_TRUE(worker.live().available());
}

TEST(StoppingWorker, IsCountedAsListsShowIt) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const auto counts = [&] {
    const SystemReport report = bench.ask<SystemReport>(Question{DescribeSystem{}});
    return std::tuple(report.by_state[static_cast<size_t>(WorkerState::Ready)],
                      report.by_state[static_cast<size_t>(WorkerState::Draining)], report.stopped, report.unhealthy);
  };
  EXPECT_EQ(counts(), std::tuple(1, 0, 0, 0));
  worker.stops();
  EXPECT_EQ(counts(), std::tuple(0, 1, 0, 0)) << "it drains while it stops";
  worker.closes();
  EXPECT_EQ(counts(), std::tuple(0, 0, 1, 0)) << "and has stopped when it is away";
  worker.restarts();
  EXPECT_EQ(counts(), std::tuple(1, 0, 0, 0));
}

TEST(StoppingWorker, ThatLeftWorkBehindIsMissedOnlyUntilThatIsGivenToOthers) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job());
  worker.takes(job).stops().closes().goes_silent();
  bench.advance(31s);
  EXPECT_TRUE(worker.live().unhealthy);
  bench.advance(20s);
  EXPECT_EQ(bench.state(job), JobState::Pending);
  EXPECT_FALSE(worker.live().unhealthy);
  EXPECT_TRUE(worker.live().has_stopped());
}

TEST(StoppingWorker, IsRememberedByTheNextServer) {
  Bench bench;
  Hand worker = bench.worker("w1").joins().stops();
  bench.restart();
  EXPECT_FALSE(worker.live().in_service());
  const Incarnation who = parse_incarnation(bench.rows.workers.at(worker.id())->incarnation);
  OpenStream hello{bench.sessions["w1"], who.id, ++bench.numbers, {}, who.lineage, who.generation, true};
  bench.ask<StreamOpened>(hello);
  EXPECT_FALSE(worker.live().available()) << "its hello says that it still stops";
}

TEST(StoppingWorker, OfAProviderIsNotExpectedBack) {
  Bench bench;
  WorkerOrder order = a_worker();
  Hand worker = bench.worker("w1").joins(order);
  auto record = std::make_shared<WorkerRecord>(*bench.rows.workers.at(worker.id()));
  record->info.made = Made{.provider = "docker", .handle = "c1"};
  bench.rows.keep(Put<WorkerRecord>{record});
  bench.restart();
  worker.returns().stops().closes();
  ASSERT_EQ(bench.told<DestroyWorker>().size(), 1u);
  EXPECT_EQ(bench.told<DestroyWorker>()[0].handle, "c1");
}

TEST(InterruptedWithoutAStop, IsALostExecution) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job().attempts(1));
  worker.takes(job);
  ASSERT_TRUE(worker.reports(ended(bench.current(job), Outcome::Interrupted, bench.now.wall)).ok());
  EXPECT_EQ(bench.state(job), JobState::Failed) << "else such a worker could have it run for ever";
}

// ---- Orders that are not started

TEST(UnstartedDispatch, WaitsLongerEachTimeAndNeverEndsTheJob) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job());
  Duration wait = kFirstDispatchDelay;
  for (int i = 0; i < 60; ++i) {
    ASSERT_EQ(bench.state(job), JobState::Scheduled) << i;
    ASSERT_TRUE(worker.reports(ended(bench.current(job), Outcome::Lost)).ok());
    ASSERT_EQ(bench.state(job), JobState::Pending) << i;
    EXPECT_EQ(bench.job(job).not_before, bench.now.wall + wait) << i;
    bench.advance(wait - 1ms);
    EXPECT_EQ(bench.state(job), JobState::Pending) << i;
    bench.advance(2ms);
    wait = std::min(wait * 2, Duration(kLongestDispatchDelay));
  }
  EXPECT_EQ(bench.job(job).attempts, 0u);
  worker.takes(job).finishes(job);
  EXPECT_EQ(bench.state(job), JobState::Succeeded);
}

TEST(UnstartedDispatch, SaysWhatItsWorkerLacks) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job().attempts(1));
  Report full = ended(bench.current(job), Outcome::Lost);
  full.results[0].failure = "infrastructure";
  full.results[0].message = "making work/7: No space left on device";
  ASSERT_TRUE(worker.reports(full).ok());
  EXPECT_EQ(bench.state(job), JobState::Pending);
  EXPECT_EQ(bench.job(job).attempts, 0u);
  EXPECT_EQ(bench.job(job).past->executions.back().failure, "infrastructure");
  EXPECT_THAT(bench.job(job).past->reason, testing::HasSubstr("No space left on device; the job had not started"));
}

TEST(UnstartedDispatch, IsForgottenWhenTheJobStarts) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job().attempts(5));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(worker.reports(ended(bench.current(job), Outcome::Lost)).ok());
    bench.advance(1s);
  }
  worker.takes(job);
  EXPECT_EQ(bench.job(job).lost_dispatches, 0u);
  EXPECT_TRUE(bench.job(job).past->refused_by.empty());
}

TEST(UnstartedDispatch, GoesToOtherWorkersFirst) {
  Bench bench;
  // The more slots, the better the score: without a memory w1 would be chosen each time.
  bench.worker("w1").joins(9);
  bench.worker("w2").joins(6);
  bench.worker("w3").joins(3);
  const JobId blocker = bench.submit(a_job());  // keeps w1 from being paused: it starts what others are refused
  bench.worker(bench.where(blocker)).takes(blocker);
  const JobId job = bench.submit(a_job());
  std::vector<std::string> had;
  for (int i = 0; i < 6; ++i) {
    had.push_back(bench.where(job));
    ASSERT_TRUE(bench.worker(had.back()).reports(ended(bench.current(job), Outcome::Lost)).ok());
    bench.advance(30s);
    ASSERT_EQ(bench.state(job), JobState::Scheduled);
  }
  EXPECT_THAT(std::vector(had.begin(), had.begin() + 3), testing::UnorderedElementsAre("w1", "w2", "w3"));
}

TEST(RefusingWorker, IsNotFloodedWithAQueue) {
  Bench bench;
  bench.checks = false;
  Hand worker = bench.worker("w1").joins(4);
  std::vector<JobId> jobs;
  for (int i = 0; i < 1000; ++i) jobs.push_back(bench.submit(a_job()));
  const MonoTime end = bench.now.mono + 60s;
  while (bench.now.mono < end) {
    Report refusals;
    for (const JobId job : jobs) {
      if (bench.state(job) == JobState::Scheduled) {
        refusals.results.push_back({.execution = bench.current(job), .outcome = Outcome::Lost});
      }
    }
    if (!refusals.results.empty()) {
      ASSERT_TRUE(worker.reports(refusals).ok());
    }
    bench.advance(10ms);
  }
  const size_t sent = bench.told<RunExecution>().size();
  EXPECT_LE(sent, 4u * 12) << "four at once, in pauses that double";
  EXPECT_GE(sent, 4u * 5) << "it is tried again";
  for (const JobId job : jobs) EXPECT_FALSE(is_terminal(bench.state(job)));
}

TEST(RefusingWorker, IsUsedAgainAtOnceWhenItStartsSomething) {
  Bench bench;
  Hand worker = bench.worker("w1").joins(2);
  const JobId refused = bench.submit(a_job());
  const JobId started = bench.submit(a_job());
  ASSERT_TRUE(worker.reports(ended(bench.current(refused), Outcome::Lost)).ok());
  EXPECT_TRUE(worker.live().paused);
  const JobId next = bench.submit(a_job());
  EXPECT_EQ(bench.state(next), JobState::Pending);
  EXPECT_EQ(bench.explain(next).rejected.at(0).rule, "pause");
  worker.takes(started);
  EXPECT_FALSE(worker.live().paused);
  EXPECT_EQ(bench.state(next), JobState::Scheduled);
}

TEST(FlappingWorker, FailsNothing) {
  Bench bench;
  Hand worker = bench.worker("w1").joins(200);
  std::vector<JobId> jobs;
  for (int i = 0; i < 200; ++i) jobs.push_back(bench.submit(a_job()));
  for (int i = 0; i < 21; ++i) {
    worker.closes().returns();
    bench.advance(570ms);
  }
  for (const JobId job : jobs) EXPECT_FALSE(is_terminal(bench.state(job))) << short_id(job);
  bench.advance(60s);
  for (const JobId job : jobs) EXPECT_EQ(bench.state(job), JobState::Scheduled) << short_id(job);
}

}  // namespace
}  // namespace hodei::core
