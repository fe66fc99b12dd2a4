// Taints that a person sets on a worker, and the executions that they drive out.
#include "src/core/engine_harness.h"

namespace hodei::core::taint_test {
namespace {

const Taint kOut{"broken", "yes", TaintEffect::NoExecute};
const Taint kNoMore{"broken", "yes", TaintEffect::NoSchedule};

void taint(Bench& bench, const std::string& worker, std::vector<Taint> taints) {
  EXPECT_EQ(bench.ask<WorkerViews>(TaintWorker{WorkerId(worker), std::move(taints)}).workers.size(), 1u);
}

TEST(TaintWorker, KeepsNewWorkAwayAndLeavesWhatRuns) {
  Bench bench;
  bench.worker("a").joins(4);
  const JobId old = bench.submit(a_job());
  bench.worker("a").takes(old);
  taint(bench, "a", {kNoMore});
  const JobId fresh = bench.submit(a_job());
  EXPECT_EQ(bench.state(old), JobState::Running);
  EXPECT_EQ(bench.state(fresh), JobState::Pending);
  EXPECT_EQ(bench.where(bench.submit(a_job().tolerating({"broken", ""}))), "a");
  taint(bench, "a", {});
  EXPECT_EQ(bench.where(fresh), "a") << "taking the taint away wakes what waits";
}

TEST(TaintWorker, StaysWhenTheWorkerRegistersAgain) {
  Bench bench;
  bench.worker("a").joins(1);
  taint(bench, "a", {kNoMore});
  bench.ask<Registered>(
      RegisterWorker{{}, bench.sessions["a"], {}, bench.rows.workers.at(WorkerId("a"))->info, "incarnation 1"});
  WorkerInfo own = bench.rows.workers.at(WorkerId("a"))->info;
  own.taints.clear();
  own.taints_set = false;
  own.slots = 5;
  bench.ask<Registered>(RegisterWorker{{}, bench.sessions["a"], {}, own, "incarnation 1"});
  EXPECT_EQ(bench.rows.workers.at(WorkerId("a"))->info.slots, 5u);
  EXPECT_EQ(bench.rows.workers.at(WorkerId("a"))->info.taints, std::vector<Taint>{kNoMore});
  bench.restart();
  EXPECT_EQ(bench.engine().modules().fleet.workers.all().at(WorkerId("a"))->record->info.taints,
            std::vector<Taint>{kNoMore});
}

TEST(TaintWorker, EvictsWhatDoesNotTolerateIt) {
  Bench bench;
  bench.worker("a").joins(4);
  const JobId job = bench.submit(a_job());
  const JobId tough = bench.submit(a_job().tolerating({"broken", "yes"}));
  bench.worker("a").takes(job).takes(tough);
  const ExecutionId first = bench.current(job);
  taint(bench, "a", {kOut});
  ASSERT_EQ(bench.told<CancelExecution>().size(), 1u);
  EXPECT_EQ(bench.told<CancelExecution>()[0].execution, first);
  EXPECT_EQ(bench.state(job), JobState::Running) << "until its worker says that it is dead";
  EXPECT_EQ(bench.state(tough), JobState::Running);

  bench.worker("b").joins(1);
  bench.worker("a").finishes(job, Outcome::Cancelled);
  EXPECT_EQ(bench.where(job), "b");
  EXPECT_EQ(bench.job(job).attempts, 0u) << "it was not let finish";
  EXPECT_EQ(bench.rows.archived.at({job, 1}).execution.state, JobState::Pending);
  EXPECT_EQ(bench.rows.archived.at({job, 1}).execution.failure, "evicted");
  EXPECT_EQ(bench.history(job)[2].reason, "evicted from worker a, which has the taint broken=yes:NoExecute");
  bench.worker("b").takes(job).finishes(job);
  EXPECT_EQ(bench.state(job), JobState::Succeeded);
  EXPECT_EQ(bench.job(job).attempts, 1u);
}

TEST(TaintWorker, TellsAWorkerThatWasAwayWhatToEnd) {
  Bench bench;
  bench.worker("a").joins(1);
  const JobId job = bench.submit(a_job());
  bench.worker("a").takes(job).closes();
  taint(bench, "a", {kOut});
  EXPECT_TRUE(bench.told<CancelExecution>().empty());
  bench.restart();
  bench.worker("a").returns({{bench.current(job), true, false}});
  ASSERT_EQ(bench.told<CancelExecution>().size(), 1u);
  EXPECT_FALSE(bench.told<CancelExecution>()[0].timed_out);
}

TEST(TaintWorker, PutsBackWhatItsWorkerLost) {
  Bench bench;
  bench.worker("a").joins(1);
  const JobId job = bench.submit(a_job().without_retry());
  bench.worker("a").takes(job);
  taint(bench, "a", {kOut});
  bench.worker("a").goes_silent();
  bench.advance(50s);
  EXPECT_EQ(bench.state(job), JobState::Pending) << "though it may not be retried: the loss is no fault of its own";
  EXPECT_EQ(bench.job(job).attempts, 0u);
}

TEST(TaintWorker, LetsAnExecutionSucceedThatWasFaster) {
  Bench bench;
  bench.worker("a").joins(1);
  const JobId job = bench.submit(a_job());
  bench.worker("a").takes(job);
  taint(bench, "a", {kOut});
  bench.worker("a").finishes(job);
  EXPECT_EQ(bench.state(job), JobState::Succeeded);
}

TEST(TaintWorker, GivesWayToACancel) {
  Bench bench;
  bench.worker("a").joins(1);
  const JobId job = bench.submit(a_job());
  bench.worker("a").takes(job);
  taint(bench, "a", {kOut});
  bench.cancel(job, "enough");
  bench.worker("a").finishes(job, Outcome::Cancelled);
  EXPECT_EQ(bench.state(job), JobState::Cancelled);
}

TEST(TaintWorker, RefusesWhatIsNoTaintAndWhoIsNotThere) {
  Bench bench;
  bench.worker("a").joins(1);
  EXPECT_TRUE(absl::IsNotFound(bench.refused(TaintWorker{WorkerId("x"), {kOut}})));
  EXPECT_TRUE(absl::IsInvalidArgument(bench.refused(TaintWorker{WorkerId("a"), {{"", "v", TaintEffect::NoExecute}}})));
  EXPECT_TRUE(
      absl::IsInvalidArgument(bench.refused(TaintWorker{WorkerId("a"), {{"k", "v", static_cast<TaintEffect>(9)}}})));
}

}  // namespace
}  // namespace hodei::core::taint_test
