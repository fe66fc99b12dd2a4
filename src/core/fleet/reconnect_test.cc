// The reconnect hello is a barrier: what it does not list was never started and never will be. And the fence: a report
// about any execution but the current one changes nothing.
#include <limits>

#include "gmock/gmock.h"
#include "src/core/engine_harness.h"

namespace hodei::core::reconnect_test {
namespace {

ResultReport success_of(ExecutionId execution, WallTime at) {
  ResultReport result;
  result.execution = execution;
  result.outcome = Outcome::Succeeded;
  result.exit_code = 0;
  result.started = at;
  return result;
}

bool accepted(absl::StatusOr<Reply> reply) {
  EXPECT_TRUE(reply.ok()) << reply.status();
  return reply.ok() && std::get<Reported>(*reply).accepted.at(0);
}

TEST(Reports, OfTimesToComeAreNotBelieved) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins();
  ResultReport result = success_of(bench.current(job), WallTime{std::numeric_limits<int64_t>::max()});
  result.ended = WallTime{std::numeric_limits<int64_t>::max()};
  EXPECT_TRUE(accepted(bench.worker("w1").reports({.results = {result}})));
  const Execution& execution = bench.job(job).past->executions.back();
  EXPECT_EQ(execution.started, bench.now.wall);
  EXPECT_EQ(execution.ended, bench.now.wall);
}

TEST(Hello, LosesAtOnceWhatItDoesNotList) {
  Bench bench;
  const JobId running = bench.submit(a_job().attempts(1));
  const JobId sent = bench.submit(a_job().attempts(1));
  bench.worker("w1").joins(2).takes(running).returns();
  EXPECT_EQ(bench.state(running), JobState::Failed);
  EXPECT_EQ(bench.state(sent), JobState::Pending);
  bench.advance(100ms);
  EXPECT_EQ(bench.current(sent).number, 2u) << "never started: sent again";
}

TEST(Hello, LetsGoOnWhatItLists) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job);
  const ExecutionId execution = bench.current(job);
  bench.worker("w1").closes().returns({{execution, true, false}});
  EXPECT_EQ(bench.state(job), JobState::Running);
  EXPECT_EQ(bench.current(job), execution);
  EXPECT_EQ(bench.told<RunExecution>().size(), 1u);
  bench.worker("w1").finishes(job);
  EXPECT_EQ(bench.state(job), JobState::Succeeded);
}

TEST(Hello, MakesAListedExecutionRunningWhenItsStartReportWasLost) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins();
  bench.worker("w1").returns({{bench.current(job), true, false}});
  EXPECT_EQ(bench.state(job), JobState::Running);
  EXPECT_EQ(bench.job(job).attempts, 1u);
}

TEST(Hello, LeavesAListedExecutionScheduledThatHasNotStarted) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins();
  bench.worker("w1").returns({{bench.current(job), false, false}});
  EXPECT_EQ(bench.state(job), JobState::Scheduled);
  EXPECT_EQ(bench.told<RunExecution>().size(), 1u);
}

TEST(Hello, WaitsForTheResultOfAnExecutionThatHasEnded) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job).closes().returns({{bench.current(job), true, true}});
  EXPECT_EQ(bench.state(job), JobState::Running);
  EXPECT_TRUE(bench.told<WelcomeWorker>().back().unknown.empty());
  bench.worker("w1").finishes(job);
  EXPECT_EQ(bench.state(job), JobState::Succeeded);
}

TEST(Hello, StopsWhatIsNotCurrent) {
  Bench bench;
  bench.worker("w1").joins();
  const ExecutionId stranger{JobId{99}, 1};
  bench.worker("w1").returns({{stranger, true, false}});
  EXPECT_EQ(bench.told<WelcomeWorker>().back().unknown, std::vector{stranger});
}

TEST(Hello, IsRefusedWhenItListsMoreThanItsWorkerCanHave) {
  Bench bench;
  bench.worker("w1").joins(2);
  std::vector<HeldExecution> held;
  for (uint32_t i = 1; i <= 2 + kMaxEndedHeld; ++i) held.push_back({{JobId{7}, i}, true, true});
  bench.worker("w1").returns(held);
  const uint64_t stream = bench.worker("w1").stream();
  held.push_back({{JobId{7}, 9999}, true, true});
  const absl::Status why =
      bench.refused(OpenStream{bench.sessions["w1"], "incarnation 1", stream + 1, held, "folder-of-w1", 1});
  EXPECT_TRUE(absl::IsInvalidArgument(why));
  EXPECT_THAT(std::string(why.message()),
              testing::HasSubstr("hello.held: lists 4099 executions; a worker with 2 slots has at most 4098"));
  EXPECT_EQ(bench.worker("w1").live().stream, stream) << "the stream that it had goes on";
}

TEST(Hello, KeepsTheLogsOfAnEndedExecutionWhoseResultIsKnown) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job).finishes(job);
  const ExecutionId ended = bench.current(job);
  bench.worker("w1").returns({{ended, true, true}});
  EXPECT_TRUE(bench.told<WelcomeWorker>().back().unknown.empty());
  // Whose it was, memory does not know any more: how far its log is, acknowledgements tell.
  EXPECT_TRUE(bench.told<WelcomeWorker>().back().held.empty());
}

TEST(Hello, TellsNobodyHowFarTheLogOfAnotherWorkersExecutionIs) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job);
  const ExecutionId execution = bench.current(job);
  bench.worker("w2").joins().returns({{execution, true, true}});
  EXPECT_TRUE(bench.told<WelcomeWorker>().back().held.empty());
  bench.worker("w1").returns({{execution, true, false}});
  EXPECT_EQ(bench.told<WelcomeWorker>().back().held, std::vector{execution});
}

TEST(Hello, IsToldAgainWhatWasCancelledMeanwhile) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job).closes();
  bench.cancel(job);
  EXPECT_TRUE(bench.told<CancelExecution>().empty()) << "nobody listens";
  bench.worker("w1").returns({{bench.current(job), true, false}});
  ASSERT_EQ(bench.told<CancelExecution>().size(), 1u);
  EXPECT_FALSE(bench.told<CancelExecution>()[0].timed_out);
  EXPECT_EQ(bench.told<CancelExecution>()[0].stream, bench.worker("w1").stream());
}

TEST(Hello, WelcomesBeforeItSendsNewWork) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins();
  size_t welcome = bench.effects.size();
  size_t run = bench.effects.size();
  for (size_t i = 0; i < bench.effects.size(); ++i) {
    if (std::holds_alternative<WelcomeWorker>(bench.effects[i])) welcome = i;
    if (std::holds_alternative<RunExecution>(bench.effects[i])) run = i;
  }
  EXPECT_EQ(bench.state(job), JobState::Scheduled);
  EXPECT_LT(welcome, run);
}

TEST(Hello, TakesBackWhatRunsAfterTheServerWasRestarted) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job);
  bench.restart();
  bench.worker("w1").returns({{bench.current(job), true, false}});
  bench.worker("w1").finishes(job);
  EXPECT_EQ(bench.state(job), JobState::Succeeded);
}

TEST(Hello, NeedsAKnownSession) {
  Bench bench;
  bench.worker("w1").joins();
  const absl::Status status = bench.refused(OpenStream{hash128("stranger"), "i", 99, {}});
  EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
}

TEST(Hello, ClosesTheStreamThatItReplaces) {
  Bench bench;
  bench.worker("w1").joins();
  const uint64_t old = bench.worker("w1").stream();
  bench.worker("w1").returns();
  ASSERT_EQ(bench.told<DropStream>().size(), 1u);
  EXPECT_EQ(bench.told<DropStream>()[0].stream, old);
}

TEST(Stream, ThatWasReplacedDoesNotDisconnectTheWorkerWhenItEnds) {
  Bench bench;
  bench.worker("w1").joins();
  const uint64_t old = bench.worker("w1").stream();
  bench.worker("w1").returns();
  bench.ask<Done>(CloseStream{WorkerId("w1"), old});
  EXPECT_TRUE(bench.worker("w1").live().connected);
}

TEST(Fence, IgnoresTheLateResultOfAnOldExecution) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(2));
  bench.worker("w1").joins().takes(job);
  const ExecutionId first = bench.current(job);
  bench.worker("w1").finishes(job, Outcome::Lost).takes(job);
  EXPECT_FALSE(accepted(bench.worker("w1").reports({.results = {success_of(first, bench.now.wall)}})));
  EXPECT_EQ(bench.state(job), JobState::Running);
  EXPECT_EQ(bench.current(job).number, 2u);
  EXPECT_TRUE(bench.last.writes.empty());
}

TEST(Fence, AcknowledgesTheLateResultSoThatTheWorkerForgetsIt) {
  Bench bench;
  const JobId job = bench.submit(a_job().attempts(2));
  bench.worker("w1").joins().takes(job);
  const ExecutionId first = bench.current(job);
  bench.worker("w1").finishes(job, Outcome::Lost);
  bench.effects.clear();
  accepted(bench.worker("w1").reports({.results = {success_of(first, bench.now.wall)}}));
  ASSERT_EQ(bench.told<AckResult>().size(), 1u);
  EXPECT_EQ(bench.told<AckResult>()[0].execution, first);
}

TEST(Fence, IgnoresAWorkerThatSpeaksOfAnothersExecution) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job);
  bench.worker("w2").joins();
  EXPECT_FALSE(accepted(bench.worker("w2").reports({.results = {success_of(bench.current(job), bench.now.wall)}})));
  EXPECT_EQ(bench.state(job), JobState::Running);
}

TEST(Fence, RefusesReportsOfAReplacedStream) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job);
  Report late{WorkerId("w1"), bench.worker("w1").stream(), {}, {}, {success_of(bench.current(job), bench.now.wall)}};
  bench.worker("w1").returns({{bench.current(job), true, false}});
  EXPECT_TRUE(absl::IsAborted(bench.refused(late)));
  EXPECT_EQ(bench.state(job), JobState::Running);
}

TEST(Fence, IgnoresReportsAboutFinishedAndUnknownJobs) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job).finishes(job);
  EXPECT_FALSE(accepted(bench.worker("w1").reports({.started = {{bench.current(job), bench.now.wall}}})));
  EXPECT_FALSE(accepted(bench.worker("w1").reports({.progress = {{bench.current(job), 50, ""}}})));
  EXPECT_FALSE(accepted(bench.worker("w1").reports({.results = {success_of({JobId{77}, 1}, bench.now.wall)}})));
  EXPECT_EQ(bench.state(job), JobState::Succeeded);
}

TEST(Fence, RecordsAResultOnceWhenItIsSentTwice) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job);
  const Report report{{}, 0, {}, {}, {success_of(bench.current(job), bench.now.wall)}};
  EXPECT_TRUE(accepted(bench.worker("w1").reports(report)));
  EXPECT_FALSE(accepted(bench.worker("w1").reports(report)));
  EXPECT_EQ(bench.worker("w1").live().succeeded, 1);
}

TEST(Fence, HoldsForUnaryCallsToo) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job);
  const ExecutionId wrong{job, 9};
  EXPECT_FALSE(accepted(bench.decide(Report{WorkerId("w1"), 0, {}, {}, {success_of(wrong, bench.now.wall)}})));
  EXPECT_TRUE(
      accepted(bench.decide(Report{WorkerId("w1"), 0, {}, {}, {success_of(bench.current(job), bench.now.wall)}})));
  EXPECT_TRUE(bench.told<AckResult>().empty()) << "there is no stream to acknowledge on";
}

TEST(Report, OfAResultMakesUpForALostStart) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().finishes(job);
  const std::vector<Transition> history = bench.history(job);
  ASSERT_EQ(history.size(), 3u);
  EXPECT_EQ(history[1].to, JobState::Running);
  EXPECT_EQ(history[2].to, JobState::Succeeded);
  EXPECT_EQ(bench.job(job).attempts, 1u);
}

TEST(Report, OfProgressIsKeptInBounds) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job);
  const std::pair<double, double> cases[] = {
      {50, 50}, {-3, 0}, {250, 100}, {std::numeric_limits<double>::quiet_NaN(), 0}};
  for (const auto& [said, kept] : cases) {
    EXPECT_TRUE(accepted(bench.worker("w1").reports({.progress = {{bench.current(job), said, "half"}}})));
    EXPECT_DOUBLE_EQ(bench.job(job).past->progress, kept) << said;
  }
  EXPECT_EQ(bench.told<JobProgressed>().size(), 4u);
}

}  // namespace
}  // namespace hodei::core::reconnect_test
