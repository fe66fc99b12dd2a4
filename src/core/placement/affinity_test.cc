// Job-to-job affinity: rules about the labels of the jobs that a worker runs.
#include "src/core/engine_harness.h"

namespace hodei::core::affinity_test {
namespace {

LabelRule app(std::string name) { return {"app", LabelOperator::In, {std::move(name)}}; }

TEST(JobAffinity, SendsAJobToTheWorkerThatRunsTheOther) {
  Bench bench;
  bench.worker("a").joins(4);
  bench.worker("b").joins(4);
  const JobId db = bench.submit(a_job().label("app", "db"));
  const JobId web = bench.submit(a_job().label("app", "web").beside(app("db")));
  EXPECT_EQ(bench.where(web), bench.where(db));
}

TEST(JobAffinity, LetsAJobWaitUntilTheOtherRuns) {
  Bench bench;
  bench.worker("a").joins(4);
  const JobId web = bench.submit(a_job().beside(app("db")));
  EXPECT_EQ(bench.state(web), JobState::Pending);
  const Explanation why = bench.explain(web);
  EXPECT_EQ(why.candidates.at(0).rule, "affinity");
  EXPECT_EQ(why.candidates.at(0).reason, "runs no job with app In (db), which the job must run next to");
  bench.submit(a_job().label("app", "db"));
  EXPECT_EQ(bench.where(web), "a") << "the arrival of the other job wakes it";
}

TEST(JobAffinity, KeepsJobsOfAKindApart) {
  Bench bench;
  bench.worker("a").joins(4);
  bench.worker("b").joins(4);
  const JobOrder order = a_job().label("app", "db").away_from(app("db"));
  const JobId first = bench.submit(order);
  const JobId second = bench.submit(order);
  const JobId third = bench.submit(order);
  EXPECT_NE(bench.where(first), bench.where(second));
  EXPECT_EQ(bench.state(third), JobState::Pending);
  bench.worker(bench.where(first)).takes(first).finishes(first);
  EXPECT_EQ(bench.state(third), JobState::Scheduled) << "the end of what it keeps away from wakes it";
}

TEST(JobAffinity, OnlyPrefersWhereItIsNotRequired) {
  Bench bench;
  bench.worker("a").joins(8);
  bench.worker("b").joins(8);
  const JobId db = bench.submit(a_job().label("app", "db"));
  const JobId near = bench.submit(a_job().beside(app("db"), false));
  EXPECT_EQ(bench.where(near), bench.where(db));
  const JobId apart = bench.submit(a_job().away_from(app("db"), false));
  EXPECT_NE(bench.where(apart), bench.where(db));
  EXPECT_EQ(bench.state(bench.submit(a_job().beside(app("nobody"), false))), JobState::Scheduled);
}

TEST(JobAffinity, CountsJobsWithoutLabelsToo) {
  Bench bench;
  bench.worker("a").joins(4);
  bench.worker("b").joins(4);
  const JobId plain = bench.submit(a_job());
  const JobId picky = bench.submit(a_job().label("team", "x").away_from({"team", LabelOperator::DoesNotExist, {}}));
  EXPECT_NE(bench.where(picky), bench.where(plain));
}

TEST(JobAffinity, IsCheckedWhenAPersonAssigns) {
  Bench bench;
  bench.worker("a").joins(4);
  const JobId web = bench.submit(a_job().beside(app("db")));
  EXPECT_TRUE(absl::IsFailedPrecondition(bench.refused(Assign{web, WorkerId("a")})));
}

TEST(JobAffinity, IsKnownAfterARestart) {
  Bench bench;
  bench.worker("a").joins(4);
  const JobId db = bench.submit(a_job().label("app", "db"));
  bench.worker("a").takes(db);
  bench.restart();
  bench.worker("a").returns({{bench.current(db), true, false}});
  EXPECT_EQ(bench.state(bench.submit(a_job().away_from(app("db")))), JobState::Pending);
  EXPECT_EQ(bench.where(bench.submit(a_job().beside(app("db")))), "a");
}

}  // namespace
}  // namespace hodei::core::affinity_test
