// Cancel in every state, time-outs that the server asks for, and direct assignment.
#include "src/core/engine_harness.h"

namespace hodei::core::ending_test {
namespace {

TEST(Cancel, TakesAPendingJobOutOfTheQueue) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  EXPECT_EQ(bench.cancel(job, "not needed"), JobState::Cancelled);
  EXPECT_EQ(bench.state(job), JobState::Cancelled);
  EXPECT_EQ(bench.history(job).back().reason, "cancelled on request: not needed");
  bench.worker("w1").joins();
  EXPECT_TRUE(bench.told<RunExecution>().empty());
}

TEST(Cancel, EndsAJobThatWaitsOutItsBackOff) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(2));
  bench.worker("w1").joins().takes(job).fails(job);
  EXPECT_EQ(bench.cancel(job), JobState::Cancelled);
  bench.advance(std::chrono::minutes(10));
  EXPECT_EQ(bench.told<RunExecution>().size(), 1u);
  EXPECT_EQ(bench.queue().delayed, 0);
}

TEST(Cancel, OfARunningJobIsARequestThatTheWorkerConfirms) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job);
  EXPECT_EQ(bench.cancel(job, "too slow"), JobState::Running);
  EXPECT_EQ(bench.state(job), JobState::Running);
  ASSERT_EQ(bench.told<CancelExecution>().size(), 1u);
  EXPECT_EQ(bench.told<CancelExecution>()[0].execution, bench.current(job));
  EXPECT_EQ(bench.told<CancelExecution>()[0].grace, Duration(5s));
  bench.worker("w1").finishes(job, Outcome::Cancelled);
  EXPECT_EQ(bench.state(job), JobState::Cancelled);
  EXPECT_EQ(bench.history(job).back().reason, "cancelled on request: too slow");
}

TEST(Cancel, OfAScheduledJobEndsItWithoutARun) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins();
  EXPECT_EQ(bench.cancel(job), JobState::Scheduled);
  ResultReport never_started;
  never_started.execution = bench.current(job);
  never_started.outcome = Outcome::Cancelled;
  EXPECT_TRUE(bench.worker("w1").reports({.results = {never_started}}).ok());
  EXPECT_EQ(bench.state(job), JobState::Cancelled);
  EXPECT_EQ(bench.history(job).back().from, JobState::Scheduled);
}

TEST(Cancel, OfAnExecutionThatNeverStartedUsesUpNoAttempt) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job());
  bench.cancel(job);
  ResultReport result;
  result.execution = bench.current(job);
  result.outcome = Outcome::Cancelled;
  result.ended = bench.now.wall;
  ASSERT_TRUE(worker.reports({.results = {result}}).ok());
  EXPECT_EQ(bench.state(job), JobState::Cancelled);
  EXPECT_EQ(bench.job(job).attempts, 0u);
}

TEST(Cancel, CountsAStartOfWhichOnlyTheEndWasTold) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job());
  bench.cancel(job);
  worker.finishes(job, Outcome::Cancelled);  // it says when it started
  EXPECT_EQ(bench.job(job).attempts, 1u);
}

TEST(Cancel, IsToldTheWorkerOnlyOnce) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job);
  bench.cancel(job);
  EXPECT_EQ(bench.cancel(job), JobState::Running);
  EXPECT_EQ(bench.told<CancelExecution>().size(), 1u);
}

TEST(Cancel, LosesAgainstAResultThatWasFaster) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job);
  bench.cancel(job);
  bench.worker("w1").finishes(job);
  EXPECT_EQ(bench.state(job), JobState::Succeeded);
}

// A job is cancelled when the worker confirms or is fenced. A worker that is away may have started it.
TEST(Cancel, WithAWorkerThatIsAwayIsDoneWhenItsLeaseHasEnded) {
  for (const bool started : {false, true}) {
    Bench bench;
    const JobId job = bench.submit(a_job().attempts(3));
    bench.worker("w1").joins();
    if (started) bench.worker("w1").takes(job);
    bench.worker("w1").closes();
    bench.cancel(job);
    bench.advance(44s);
    EXPECT_TRUE(is_active(bench.state(job)));
    bench.advance(2s);
    EXPECT_EQ(bench.state(job), JobState::Cancelled) << "and it does not run again";
  }
}

TEST(Cancel, WithAWorkerThatDoesNotHoldTheExecutionIsDoneAtItsHello) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().closes();
  bench.cancel(job);
  bench.worker("w1").returns();
  EXPECT_EQ(bench.state(job), JobState::Cancelled);
}

TEST(Cancel, OfAFinishedOrUnknownJobIsRefused) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job).finishes(job);
  EXPECT_TRUE(absl::IsNotFound(bench.refused(Cancel{job, ""})));
  EXPECT_TRUE(absl::IsNotFound(bench.refused(Cancel{JobId{999}, ""})));
}

TEST(TimeOut, IsAskedForByTheServerWhenTheWorkerDoesNotEndTheJobItself) {
  Bench bench;
  const JobId job = bench.submit(a_job().timeout(20s));
  bench.worker("w1").joins().takes(job);
  bench.advance(19s);
  EXPECT_TRUE(bench.told<CancelExecution>().empty());
  bench.advance(2s);
  ASSERT_EQ(bench.told<CancelExecution>().size(), 1u);
  EXPECT_TRUE(bench.told<CancelExecution>()[0].timed_out);
  EXPECT_EQ(bench.state(job), JobState::Running) << "until the worker says that it is dead";
  bench.worker("w1").finishes(job, Outcome::Cancelled);
  EXPECT_EQ(bench.state(job), JobState::Timeout);
}

TEST(TimeOut, CountsFromTheStartOfEachExecution) {
  Bench bench;
  const JobId job = bench.submit(a_job().timeout(20s).attempts(2).backoff(1ms));
  bench.worker("w1").joins().takes(job);
  bench.advance(15s);
  bench.worker("w1").fails(job);
  bench.advance(1s);
  bench.worker("w1").takes(job);
  bench.advance(15s);
  EXPECT_TRUE(bench.told<CancelExecution>().empty());
  bench.advance(6s);
  EXPECT_EQ(bench.told<CancelExecution>().size(), 1u);
}

TEST(TimeOut, IsNotAskedForAfterACancel) {
  Bench bench;
  const JobId job = bench.submit(a_job().timeout(20s));
  bench.worker("w1").joins().takes(job);
  bench.cancel(job);
  bench.advance(30s);
  EXPECT_EQ(bench.told<CancelExecution>().size(), 1u);
  EXPECT_FALSE(bench.told<CancelExecution>()[0].timed_out);
}

TEST(TimeOut, IsStillAskedForAfterARestartOfTheServer) {
  Bench bench;
  const JobId job = bench.submit(a_job().timeout(60s));
  bench.worker("w1").joins().takes(job);
  bench.advance(20s);
  bench.restart();
  bench.worker("w1").returns({{bench.current(job), true, false}});
  bench.advance(61s);
  ASSERT_EQ(bench.told<CancelExecution>().size(), 1u);
  EXPECT_TRUE(bench.told<CancelExecution>()[0].timed_out);
}

TEST(TimeOut, IsNeverEarlyAfterARestartWhateverTheWallClockDoes) {
  Bench bench;
  const JobId job = bench.submit(a_job().timeout(60s));
  bench.worker("w1").joins().takes(job);
  bench.now.wall = bench.now.wall + std::chrono::hours(24 * 365);
  bench.restart();
  bench.worker("w1").returns({{bench.current(job), true, false}});
  bench.advance(59s);
  EXPECT_TRUE(bench.told<CancelExecution>().empty());
}

// The terminal state is recorded when the worker reports the tree dead, or when the lease proves it.
TEST(TimeOut, IsRecordedWhenTheLeaseProvesTheEnd) {
  Bench bench;
  const JobId job = bench.submit(a_job().timeout(20s));
  bench.worker("w1").joins().takes(job);
  bench.advance(21s);
  bench.worker("w1").goes_silent();
  bench.advance(46s);
  EXPECT_EQ(bench.state(job), JobState::Timeout);
}

TEST(TimeOut, ProvenByTheLeaseLeadsToTheNextAttempt) {
  Bench bench;
  const JobId job = bench.submit(a_job().timeout(20s).attempts(2));
  bench.worker("w1").joins().takes(job);
  bench.advance(21s);
  bench.worker("w1").goes_silent();
  bench.advance(46s);
  EXPECT_EQ(bench.state(job), JobState::Pending);
  const std::vector<Transition> history = bench.history(job);
  EXPECT_EQ(history[history.size() - 2].to, JobState::Timeout);
  EXPECT_TRUE(bench.job(job).not_before.is_set());
}

TEST(Assign, SendsAPendingJobToTheWorkerThatWasNamed) {
  Bench bench;
  bench.worker("w1").joins(1);
  bench.submit(a_job());
  const JobId job = bench.submit(a_job());
  bench.worker("w2").joins(a_worker().slots(2).taint({"own", "use", TaintEffect::NoSchedule}));
  const JobId picky = bench.submit(a_job().tolerating({"own", "use"}));
  EXPECT_EQ(bench.where(picky), "w2");
  const absl::Status status = bench.refused(Assign{job, WorkerId("w2")});
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_NE(status.message().find("taints"), std::string::npos) << status;
  bench.worker("w3").joins(a_worker().slots(1));
  EXPECT_EQ(bench.where(job), "w3");
}

TEST(Assign, GivesTheExecutionItMade) {
  Bench bench;
  bench.ask<SchedulerConfig>(ConfigureScheduler{.threshold = 1000});
  bench.worker("w1").joins(1);
  const JobId job = bench.submit(a_job());
  ASSERT_EQ(bench.state(job), JobState::Pending) << "no worker scores above the threshold";
  EXPECT_EQ(bench.ask<Assigned>(Assign{job, WorkerId("w1")}).execution, (ExecutionId{job, 1}));
  EXPECT_EQ(bench.where(job), "w1");
  EXPECT_EQ(bench.told<RunExecution>().size(), 1u);
}

TEST(Assign, NamesBothStatesWhenTheJobIsNotPending) {
  Bench bench;
  bench.worker("w1").joins(2);
  const JobId job = bench.submit(a_job());
  const absl::Status status = bench.refused(Assign{job, WorkerId("w1")});
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_NE(status.message().find("is Scheduled, and only a Pending job can be assigned"), std::string::npos) << status;
}

TEST(Assign, IsRefusedWhereTheJobCannotGo) {
  Bench bench;
  bench.worker("full").joins(1);
  bench.submit(a_job());
  bench.worker("away").joins(1).closes();
  bench.worker("small").joins(a_worker().slots(2).cores(1));
  const JobId big = bench.submit(a_job().cores(2));
  const std::pair<const char*, const char*> cases[] = {
      {"full", "with no free slot"}, {"away", "not connected"}, {"small", "rule size"}};
  for (const auto& [worker, why] : cases) {
    const absl::Status status = bench.refused(Assign{big, WorkerId(worker)});
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_NE(status.message().find(why), std::string::npos) << status;
  }
  EXPECT_TRUE(absl::IsNotFound(bench.refused(Assign{big, WorkerId("nobody")})));
  EXPECT_TRUE(absl::IsNotFound(bench.refused(Assign{JobId{99}, WorkerId("full")})));
  EXPECT_EQ(bench.state(big), JobState::Pending);
}

TEST(Assign, RespectsFreeCapacityKeysAndBackOff) {
  Bench bench;
  bench.worker("w1").joins(a_worker().slots(4).cores(4));
  const JobId half = bench.submit(a_job().cores(3).key("db", 1));
  const JobId rest = bench.submit(a_job().cores(2));
  const JobId parked = bench.submit(a_job().key("db"));
  EXPECT_NE(bench.refused(Assign{rest, WorkerId("w1")}).message().find("free capacity"), std::string::npos);
  EXPECT_NE(bench.refused(Assign{parked, WorkerId("w1")}).message().find("at its limit"), std::string::npos);
  bench.cancel(parked);
  bench.cancel(rest);
  bench.worker("w1").takes(half).finishes(half);
  const JobId again = bench.submit(a_job().attempts(2));
  bench.worker("w1").takes(again).fails(again);
  EXPECT_NE(bench.refused(Assign{again, WorkerId("w1")}).message().find("is in backoff until"), std::string::npos);
}

}  // namespace
}  // namespace hodei::core::ending_test
