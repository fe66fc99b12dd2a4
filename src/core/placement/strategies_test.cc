// Which of the workers that fit is taken, by each strategy, and changing it while jobs run.
#include "src/core/engine_harness.h"

namespace hodei::core::strategies_test {
namespace {

void use(Bench& bench, ConfigureScheduler how) { bench.ask<SchedulerConfig>(how); }

std::string names_of(Bench& bench, const std::vector<JobId>& jobs) {
  std::string out;
  for (const JobId job : jobs) out += cat(out.empty() ? "" : " ", bench.where(job));
  return out;
}

std::vector<JobId> submit(Bench& bench, int count, const JobOrder& order) {
  std::vector<JobId> out;
  for (int i = 0; i < count; ++i) out.push_back(bench.submit(order));
  return out;
}

TEST(RoundRobin, GivesEachWorkerItsTurnHoweverLoadedItIs) {
  Bench bench;
  use(bench, {.strategy = Strategy::RoundRobin});
  for (const char* id : {"a", "b", "c"}) bench.worker(id).joins(8);
  bench.worker("b").beats(0.9);
  EXPECT_EQ(names_of(bench, submit(bench, 7, a_job())), "a b c a b c a");
}

TEST(RoundRobin, LeavesOutWhoDoesNotFitAndGoesOnBehindIt) {
  Bench bench;
  use(bench, {.strategy = Strategy::RoundRobin});
  bench.worker("a").joins(a_worker().slots(8));
  bench.worker("b").joins(a_worker().slots(8).cores(1));
  bench.worker("c").joins(a_worker().slots(8));
  EXPECT_EQ(names_of(bench, submit(bench, 4, a_job().cores(2))), "a c a c");
  EXPECT_EQ(names_of(bench, submit(bench, 1, a_job().cores(1))), "b") << "it has not had a turn";
}

TEST(RoundRobin, ComesToASoftlyTaintedWorkerLast) {
  Bench bench;
  use(bench, {.strategy = Strategy::RoundRobin});
  bench.worker("a").joins(a_worker().slots(4).taint({"slow", "yes", TaintEffect::PreferNoSchedule}));
  bench.worker("b").joins(2);
  EXPECT_EQ(names_of(bench, submit(bench, 3, a_job())), "b b a");
}

TEST(LeastConnections, TakesTheWorkerWithTheFewestExecutions) {
  Bench bench;
  use(bench, {.strategy = Strategy::LeastConnections});
  bench.worker("small").joins(2);
  bench.worker("large").joins(a_worker().slots(100));
  EXPECT_EQ(names_of(bench, submit(bench, 5, a_job())), "small large small large large");
}

TEST(ResourcePriority, CountsNeitherZoneNorProviderNorHistory) {
  Bench bench;
  bench.worker("near").joins(a_worker().slots(2).label("zone", "z"));
  bench.worker("far").joins(a_worker().slots(8));
  const JobOrder order = a_job().zone("z");
  const JobId first = bench.submit(order);
  EXPECT_EQ(bench.where(first), "near") << "smart prefers the zone";
  use(bench, {.strategy = Strategy::ResourcePriority});
  const JobId second = bench.submit(order);
  EXPECT_EQ(bench.where(second), "far");
  const Score score = bench.job(second).past->executions.back().decision.score;
  EXPECT_GT(score.capacity, 0);
  EXPECT_EQ(score.affinity + score.zone + score.history, 0);
}

TEST(AffinityStrategy, TakesTheCloserWorkerHoweverFullItIs) {
  Bench bench;
  use(bench, {.strategy = Strategy::Affinity});
  bench.worker("near").joins(a_worker().slots(4).label("zone", "z"));
  bench.worker("far").joins(a_worker().slots(100));
  EXPECT_EQ(names_of(bench, submit(bench, 5, a_job().zone("z"))), "near near near near far")
      << "what is only preferred keeps nobody out";
}

TEST(Smart, TakesTheWorkerWhoseLabelsTheJobPrefers) {
  Bench bench;
  bench.worker("a").joins(a_worker().slots(4));
  bench.worker("b").joins(a_worker().slots(4).label("disk", "ssd"));
  bench.worker("c").joins(a_worker().slots(4).label("disk", "ssd").label("net", "fast"));
  const auto prefers = [](uint32_t disk, uint32_t net) {
    JobOrder order = a_job();
    if (disk > 0) order.spec.shape.prefers.push_back({{"disk", LabelOperator::In, {"hdd"}}, disk});
    if (net > 0) order.spec.shape.prefers.push_back({{"net", LabelOperator::Exists, {}}, net});
    return order;
  };
  EXPECT_EQ(bench.where(bench.submit(prefers(0, 10))), "c");
  EXPECT_EQ(bench.where(bench.submit(prefers(90, 10))), "a") << "the others are emptier, and a tenth is little";
  JobOrder ssd = a_job();
  ssd.spec.shape.prefers.push_back({{"disk", LabelOperator::In, {"ssd"}}, 1});
  EXPECT_EQ(bench.where(bench.submit(ssd)), "b");
  bench.restart();
}

TEST(AffinityStrategy, TakesTheEmptierAmongEquallyCloseWorkers) {
  Bench bench;
  use(bench, {.strategy = Strategy::Affinity});
  bench.worker("a").joins(4);
  bench.worker("b").joins(4);
  EXPECT_EQ(names_of(bench, submit(bench, 4, a_job())), "a b a b");
}

TEST(Packing, FillsAWorkerBeforeTheNext) {
  Bench bench;
  for (const char* id : {"a", "b", "c"}) bench.worker(id).joins(3);
  EXPECT_EQ(names_of(bench, submit(bench, 3, a_job())), "a b c");
  use(bench, {.packing = Packing::Pack});
  EXPECT_EQ(names_of(bench, submit(bench, 4, a_job())), "a a b b");
}

TEST(Packing, StillTakesAnEmptyWorkerWhenOnlyCapacityCounts) {
  Bench bench;
  use(bench, {.load = 0, .affinity = 0, .zone = 0, .history = 0, .packing = Packing::Pack});
  bench.worker("a").joins(1);
  EXPECT_EQ(bench.where(bench.submit(a_job())), "a");
}

TEST(Strategies, ChangeForTheNextJobWithoutTouchingWhatRuns) {
  Bench bench;
  bench.worker("a").joins(a_worker().slots(10));
  bench.worker("b").joins(a_worker().slots(100));
  const std::vector<JobId> before = submit(bench, 4, a_job());
  const std::string where = names_of(bench, before);
  for (const Strategy s : {Strategy::RoundRobin, Strategy::LeastConnections, Strategy::ResourcePriority,
                           Strategy::Affinity, Strategy::Smart}) {
    use(bench, {.strategy = s});
    EXPECT_EQ(bench.engine().modules().placement.scheduler.config().strategy, s);
    bench.submit(a_job());
  }
  EXPECT_EQ(names_of(bench, before), where);
}

TEST(Strategies, KeepTheirSettingsOverARestart) {
  Bench bench;
  use(bench, {.strategy = Strategy::RoundRobin, .packing = Packing::Pack, .preemption = true, .reserve_after = 5s});
  bench.restart();
  const SchedulerConfig& config = bench.engine().modules().placement.scheduler.config();
  EXPECT_EQ(config.strategy, Strategy::RoundRobin);
  EXPECT_EQ(config.packing, Packing::Pack);
  EXPECT_TRUE(config.preemption);
  EXPECT_EQ(config.reserve_after, Duration(5s));
}

TEST(Strategies, RefuseWhatTheyDoNotKnow) {
  Bench bench;
  EXPECT_TRUE(absl::IsInvalidArgument(bench.refused(ConfigureScheduler{.strategy = static_cast<Strategy>(99)})));
  EXPECT_TRUE(absl::IsInvalidArgument(bench.refused(ConfigureScheduler{.packing = static_cast<Packing>(0)})));
  EXPECT_TRUE(absl::IsInvalidArgument(bench.refused(ConfigureScheduler{.reserve_after = -1s})));
}

}  // namespace
}  // namespace hodei::core::strategies_test
