// Attempts, back-off, and executions that are lost.
#include "src/core/jobs/retry.h"

#include "src/core/engine_harness.h"

namespace hodei::core::retry_test {
namespace {

std::vector<JobState> states_of(const Bench& bench, JobId job) {
  std::vector<JobState> out;
  for (const Transition& t : bench.history(job)) out.push_back(t.to);
  return out;
}

// Waits out a back-off, however long the jitter made it.
void wait_out(Bench& bench, JobId job) {
  ASSERT_TRUE(bench.job(job).not_before.is_set());
  bench.advance(bench.job(job).not_before - bench.now.wall + 1ms);
}

TEST(Retry, EndsAJobThatFailsItsOnlyAttempt) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job).fails(job);
  EXPECT_EQ(bench.state(job), JobState::Failed);
  EXPECT_EQ(bench.job(job).attempts, 1u);
}

TEST(Retry, ShowsFailureAndRetryInTheHistoryButOnlyPendingToTheWorld) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(2));
  bench.worker("w1").joins().takes(job).fails(job);
  EXPECT_EQ(states_of(bench, job),
            (std::vector{JobState::Scheduled, JobState::Running, JobState::Failed, JobState::Pending}));
  for (const Write& write : bench.last.writes) EXPECT_FALSE(std::holds_alternative<FinishJob>(write));
  const std::vector<JobMoved> moves = bench.told<JobMoved>();
  EXPECT_EQ(moves.back().job->state, JobState::Pending);
  EXPECT_EQ(moves.back().first, 3u) << "the failure and the retry are told together";
}

TEST(Retry, RunsAtMostMaxAttemptsTimes) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(3));
  Hand worker = bench.worker("w1").joins();
  for (int attempt = 1; attempt <= 2; ++attempt) {
    worker.takes(job).fails(job);
    ASSERT_EQ(bench.state(job), JobState::Pending);
    wait_out(bench, job);
  }
  worker.takes(job).fails(job);
  EXPECT_EQ(bench.state(job), JobState::Failed);
  EXPECT_EQ(bench.told<RunExecution>().size(), 3u);
}

TEST(Retry, RunsATimedOutJobAgain) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(2));
  bench.worker("w1").joins().takes(job).finishes(job, Outcome::TimedOut);
  EXPECT_EQ(states_of(bench, job).at(2), JobState::Timeout);
  EXPECT_EQ(bench.state(job), JobState::Pending);
}

TEST(Retry, IsNotDoneWhereItIsNotAllowed) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(5).without_retry());
  bench.worker("w1").joins().takes(job).fails(job);
  EXPECT_EQ(bench.state(job), JobState::Failed);
}

TEST(Retry, IsNotDoneForAJobThatWasCancelled) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(5));
  bench.worker("w1").joins().takes(job);
  bench.cancel(job);
  bench.worker("w1").fails(job);
  EXPECT_EQ(bench.state(job), JobState::Failed);
}

TEST(Retry, CountsAnExecutionThatCouldNotStart) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(1));
  Hand worker = bench.worker("w1").joins();
  ResultReport result;
  result.execution = bench.current(job);
  result.failure = "spawn_failed";
  EXPECT_TRUE(worker.reports({.results = {result}}).ok());
  EXPECT_EQ(bench.state(job), JobState::Failed);
  EXPECT_EQ(bench.job(job).attempts, 1u);
  EXPECT_EQ(bench.job(job).past->failure, "spawn_failed");
}

TEST(BackOff, KeepsAJobOutOfTheQueueUntilItIsOver) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(2).backoff(60s));
  bench.worker("w1").joins().takes(job).fails(job);
  EXPECT_EQ(bench.queue().delayed, 1);
  const Duration wait = bench.job(job).not_before - bench.now.wall;
  bench.advance(wait - 1s);
  EXPECT_EQ(bench.state(job), JobState::Pending);
  bench.advance(1s);
  EXPECT_EQ(bench.state(job), JobState::Scheduled);
}

TEST(BackOff, SurvivesARestart) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(2).backoff(60s));
  bench.worker("w1").joins().takes(job).fails(job);
  const Duration wait = bench.job(job).not_before - bench.now.wall;
  bench.restart();
  bench.worker("w1").returns();
  bench.advance(wait - 1s);
  EXPECT_EQ(bench.state(job), JobState::Pending);
  bench.advance(1s);
  EXPECT_EQ(bench.state(job), JobState::Scheduled);
}

TEST(BackOff, IsNeverLongerThanItsMaximumWhateverTheWallClockDoes) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(2).backoff(10s, 20s));
  bench.worker("w1").joins().takes(job).fails(job);
  bench.now.wall = bench.now.wall - std::chrono::hours(24 * 365 * 2);
  bench.restart();
  bench.worker("w1").returns();
  bench.advance(20s);
  EXPECT_EQ(bench.state(job), JobState::Scheduled);
}

TEST(BackOff, IsExponentialAndBounded) {
  JobHead job;
  job.id = JobId{42};
  job.backoff = {1s, 60s, 2};
  for (uint32_t attempt = 1; attempt <= 40; ++attempt) {
    job.attempts = attempt;
    const Duration full = attempt > 6 ? Duration(60s) : Duration(1s) * (1 << (attempt - 1));
    const Duration wait = backoff_delay(job);
    EXPECT_LE(wait, full) << attempt;
    EXPECT_GE(wait, full / 2) << attempt;
  }
  job.attempts = 100'000;
  EXPECT_LE(backoff_delay(job), Duration(60s));
}

TEST(BackOff, DiffersFromJobToJobAndIsTheSameOnEveryReplay) {
  std::set<Duration> waits;
  for (uint64_t id = 1; id <= 100; ++id) {
    JobHead job;
    job.id = JobId{id};
    job.attempts = 1;
    job.backoff = {60s, 60s, 2};
    waits.insert(backoff_delay(job));
    EXPECT_EQ(backoff_delay(job), backoff_delay(job));
  }
  EXPECT_GT(waits.size(), 90u);
}

TEST(LostExecution, CountsAsAnAttemptWhenItHadStarted) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(2));
  Hand worker = bench.worker("w1").joins();
  worker.takes(job).finishes(job, Outcome::Lost);
  EXPECT_EQ(bench.job(job).attempts, 1u);
  worker.takes(job).finishes(job, Outcome::Lost);
  EXPECT_EQ(bench.state(job), JobState::Failed);
  EXPECT_EQ(bench.job(job).past->failure, "worker_lost");
}

TEST(LostExecution, DoesNotCountAsAnAttemptWhenItHadNotStarted) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(1));
  Hand worker = bench.worker("w1").joins();
  worker.returns();
  EXPECT_EQ(bench.job(job).attempts, 0u);
  bench.advance(100ms);
  EXPECT_EQ(bench.job(job).executions, 2u);
  EXPECT_EQ(bench.state(job), JobState::Scheduled) << "it is sent again";
}

TEST(LostExecution, IsNotRunAgainWhereRetryIsNotAllowed) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(3).without_retry());
  bench.worker("w1").joins().takes(job).finishes(job, Outcome::Lost);
  EXPECT_EQ(bench.state(job), JobState::Failed);
  EXPECT_NE(bench.history(job).back().reason.find("retries are not allowed"), std::string::npos)
      << bench.history(job).back().reason;
}

TEST(LostExecution, IsWhatAnEndByTheWorkerItselfCounts) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(2));
  bench.worker("w1").joins().takes(job).finishes(job, Outcome::Cancelled);
  EXPECT_EQ(bench.state(job), JobState::Scheduled) << "nobody asked for its end: it runs again";
}

TEST(LostExecution, TellsTheLogsThatNothingMoreComes) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(2));
  bench.worker("w1").joins().takes(job);
  const ExecutionId first = bench.current(job);
  bench.worker("w1").finishes(job, Outcome::Lost);
  ASSERT_EQ(bench.told<ExecutionLost>().size(), 1u);
  EXPECT_EQ(bench.told<ExecutionLost>()[0].execution, first);
}

}  // namespace
}  // namespace hodei::core::retry_test
