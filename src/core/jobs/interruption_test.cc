// What an execution counts for that ended because its worker was stopped: heard of late, again and again, or by a
// person.
#include "gmock/gmock.h"
#include "src/core/engine_harness.h"
#include "src/core/jobs/retry.h"

namespace hodei::core::interruption_test {
namespace {

Report ended(ExecutionId execution, Outcome outcome, WallTime started = {}) {
  ResultReport result;
  result.execution = execution;
  result.outcome = outcome;
  result.started = started;
  result.failure = "interrupted";
  return {.results = {result}};
}

// ---- Workers that were stopped while no server heard it

TEST(LastReport, OfAWorkerThatWasStoppedUnheardSaysThatNothingCounts) {
  Bench bench;
  Hand worker = bench.worker("w1").joins(2);
  const JobId ran = bench.submit(a_job().attempts(1));
  const JobId sent = bench.submit(a_job().attempts(1));
  worker.takes(ran).closes().restarts_after_a_stop();
  EXPECT_EQ(bench.state(ran), JobState::Scheduled) << "it runs again, at once";
  EXPECT_EQ(bench.state(sent), JobState::Scheduled);
  EXPECT_EQ(bench.job(ran).attempts, 0u);
  EXPECT_TRUE(worker.live().available()) << "the one that is there now does not stop";
}

TEST(LastReport, OfAnotherStartIsNotBelieved) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job().attempts(1));
  worker.takes(job).closes();
  const uint64_t n = bench.streams["w1"] = ++bench.numbers;
  OpenStream hello{bench.sessions["w1"], "x", n, {}, "folder-of-w1", n};
  hello.stopped = {"some other start"};
  bench.ask<StreamOpened>(hello);
  EXPECT_EQ(bench.state(job), JobState::Failed) << "the start that had it crashed";
}

TEST(LastReport, BringsTheEndOfWhatFinished) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job().attempts(1));
  worker.takes(job).closes().restarts_after_a_stop({{bench.current(job), true, true}});
  EXPECT_EQ(bench.state(job), JobState::Running);
  worker.finishes(job);
  EXPECT_EQ(bench.state(job), JobState::Succeeded);
}

TEST(LastReport, BringsTheEndOfWhatWasInterrupted) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job().attempts(1));
  worker.takes(job).closes().restarts_after_a_stop({{bench.current(job), true, true, true}});
  ASSERT_TRUE(worker.reports(ended(bench.current(job), Outcome::Interrupted, bench.now.wall)).ok());
  EXPECT_NE(bench.state(job), JobState::Failed);
  EXPECT_EQ(bench.job(job).attempts, 0u);
  EXPECT_THAT(bench.history(job)[2].reason, testing::HasSubstr("interrupted: worker w1 was stopped"));
}

TEST(LastReport, CountsEvenIfTheNextStartDiesBeforeItHasSentIt) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job().attempts(1));
  worker.takes(job).closes().restarts_after_a_stop({{bench.current(job), true, true, true}}).closes();
  bench.restart();
  worker.restarts();
  EXPECT_NE(bench.state(job), JobState::Failed);
  EXPECT_EQ(bench.job(job).attempts, 0u);
}

TEST(LastReport, LetsAWorkerInAtOnceThatWasStoppedWithItsMachine) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job().attempts(1));
  worker.takes(job).closes();
  EXPECT_TRUE(absl::IsUnavailable(worker.appears({"x", "rebooted", 1})));
  worker.restarts_after_a_stop({}, true);
  EXPECT_EQ(bench.state(job), JobState::Scheduled);
  EXPECT_EQ(bench.job(job).attempts, 0u);
}

TEST(LastReport, ThatComesAfterTheSilenceTakesTheAttemptBack) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job().attempts(3));
  worker.takes(job).goes_silent();
  const ExecutionId first = bench.current(job);
  bench.advance(60s);
  ASSERT_EQ(bench.state(job), JobState::Pending);
  ASSERT_EQ(bench.job(job).attempts, 1u);
  worker.restarts_after_a_stop({{first, true, true, true}});
  EXPECT_EQ(bench.job(job).attempts, 0u);
  EXPECT_EQ(bench.state(job), JobState::Scheduled);
  worker.takes(job).finishes(job);
  EXPECT_EQ(bench.job(job).attempts, 1u);
}

TEST(StoppingWorker, IsBelievedAlsoWhenItsStreamIsGone) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job().attempts(1));
  worker.takes(job);
  const std::string who = parse_incarnation(bench.rows.workers.at(worker.id())->incarnation).id;
  bench.restart();
  bench.beating.clear();
  EXPECT_TRUE(absl::IsAborted(bench.refused(WorkerStops{worker.id(), 0, "another start"})));
  bench.ask<Done>(WorkerStops{worker.id(), 0, who});
  bench.advance(120s);
  EXPECT_EQ(bench.state(job), JobState::Pending);
  EXPECT_EQ(bench.job(job).attempts, 0u);
}

// ---- Jobs that are interrupted again and again

TEST(Interruptions, InARowMakeAJobWaitAndCountInTheEnd) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job().attempts(1));
  for (uint32_t i = 1; i <= kUncountedInterruptions; ++i) {
    worker.takes(job).stops();
    ASSERT_TRUE(worker.reports(ended(bench.current(job), Outcome::Interrupted, bench.now.wall)).ok());
    ASSERT_EQ(bench.state(job), JobState::Pending) << i;
    ASSERT_EQ(bench.job(job).attempts, 0u) << i;
    worker.closes().restarts();
    const Duration wait = interruption_delay(i);
    EXPECT_EQ(wait, i == 1 ? Duration(0) : std::min<Duration>(1s * (1 << (i - 2)), 60s)) << i;
    if (wait > Duration(0)) {
      bench.advance(wait - 1ms);
      EXPECT_EQ(bench.state(job), JobState::Pending) << i;
      bench.advance(2ms);
    }
  }
  worker.takes(job).stops();
  ASSERT_TRUE(worker.reports(ended(bench.current(job), Outcome::Interrupted, bench.now.wall)).ok());
  EXPECT_EQ(bench.state(job), JobState::Failed);
  EXPECT_THAT(bench.history(job).back().reason,
              testing::HasSubstr("interrupted 11 times in a row, which counts as attempt 1 of 1"));
}

TEST(Interruptions, AreForgottenAfterALongRun) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job().attempts(1));
  for (uint32_t i = 0; i < 2 * kUncountedInterruptions; ++i) {
    worker.takes(job);
    bench.advance(kLongRun);
    worker.stops();
    ASSERT_TRUE(worker.reports(ended(bench.current(job), Outcome::Interrupted, bench.now.wall)).ok());
    worker.closes().restarts();
    ASSERT_EQ(bench.state(job), JobState::Scheduled) << i << ": without a wait";
  }
}

TEST(Interruptions, BeforeTheStartMakeAJobWaitAndNeverCount) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job().attempts(1));
  for (uint32_t i = 0; i < 3 * kUncountedInterruptions; ++i) {
    ASSERT_EQ(bench.state(job), JobState::Scheduled) << i;
    worker.stops();
    ASSERT_TRUE(worker.reports(ended(bench.current(job), Outcome::Interrupted)).ok());
    ASSERT_EQ(bench.state(job), JobState::Pending) << i;
    worker.closes().restarts();
    EXPECT_EQ(bench.state(job), i == 0 ? JobState::Scheduled : JobState::Pending) << i;
    bench.advance(kLongestDispatchDelay);
  }
  EXPECT_EQ(bench.job(job).past->interruptions, 0u);
}

TEST(Interruptions, SurviveTheServer) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job().attempts(1));
  worker.takes(job).stops();
  ASSERT_TRUE(worker.reports(ended(bench.current(job), Outcome::Interrupted, bench.now.wall)).ok());
  bench.restart();
  EXPECT_EQ(bench.job(job).past->interruptions, 1u);
}

TEST(DrainNow, PutsBackWhatAWorkerHasWithoutCounting) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job().attempts(1));
  worker.takes(job);
  bench.ask<Drained>(DrainWorker{worker.id(), "the server is stopped"});
  EXPECT_EQ(bench.job(job).requeue, Requeue::No);
  bench.ask<Drained>(DrainWorker{worker.id(), "the server is stopped", true});
  EXPECT_EQ(bench.told<CancelExecution>().size(), 1u);
  worker.goes_silent();
  bench.advance(60s);
  EXPECT_EQ(bench.state(job), JobState::Pending);
  EXPECT_EQ(bench.job(job).attempts, 0u);
}

}  // namespace
}  // namespace hodei::core::interruption_test
