// The five parts of the score and their weights (docs/semantics.md#score).
#include "src/core/placement/strategy.h"

#include "gtest/gtest.h"

namespace hodei::core::score_test {
namespace {

LiveWorker worker_of(const WorkerInfo& info) {
  LiveWorker worker;
  auto record = std::make_shared<WorkerRecord>();
  record->info = info;
  worker.record = std::move(record);
  return worker;
}

WorkerInfo four_slots() {
  WorkerInfo info;
  info.slots = 4;
  info.capacity = {4000, 1000, 0, 0};
  info.provider = "manual";
  return info;
}

void occupy(LiveWorker& worker, int slots, const Amounts& each) {
  for (int i = 0; i < slots; ++i) {
    worker.executions.insert({JobId{static_cast<uint64_t>(i) + 1}, 1});
    worker.used += each;
  }
}

TEST(Score, GivesAnEmptyWorkerThatMeetsEveryPreferenceAllOfItsWeights) {
  Shape shape;
  shape.preferred_provider = "manual";
  shape.preferred_zone = "z";
  WorkerInfo info = four_slots();
  info.labels["zone"] = "z";
  const Score score = score_of(worker_of(info), fit_of(shape, info), SchedulerConfig());
  EXPECT_EQ(score, (Score{30, 25, 20, 15, 10}));
  EXPECT_DOUBLE_EQ(score.total(), 100);
}

TEST(Score, GivesNothingForPreferencesThatAJobDoesNotHave) {
  const Score score = score_of(worker_of(four_slots()), fit_of(Shape(), four_slots()), SchedulerConfig());
  EXPECT_EQ(score, (Score{30, 25, 0, 0, 10}));
}

TEST(Score, GivesAffinityByTheWeightsOfThePreferredLabelsThatHold) {
  Shape shape;
  shape.prefers = {{{"disk", LabelOperator::In, {"ssd"}}, 80}, {{"gpu", LabelOperator::Exists, {}}, 20}};
  WorkerInfo info = four_slots();
  EXPECT_DOUBLE_EQ(fit_of(shape, info).affinity, 0);
  info.labels["disk"] = "ssd";
  EXPECT_DOUBLE_EQ(fit_of(shape, info).affinity, 0.8);
  info.labels["gpu"] = "";
  EXPECT_DOUBLE_EQ(fit_of(shape, info).affinity, 1);
  shape.preferred_provider = "docker";
  EXPECT_DOUBLE_EQ(fit_of(shape, info).affinity, 100.0 / 150);
}

TEST(Score, FallsWithTheShareOfSlotsCoresAndMemoryThatIsTaken) {
  LiveWorker worker = worker_of(four_slots());
  occupy(worker, 2, {500, 500, 0, 0});
  // Half of the slots, three quarters of the cores and no memory are free.
  EXPECT_DOUBLE_EQ(capacity_part(worker), (0.5 + 0.75 + 0.0) / 3);
}

TEST(Score, CountsOnlySlotsWhenAWorkerSaysNothingOfItsSize) {
  WorkerInfo info = four_slots();
  info.capacity = {};
  LiveWorker worker = worker_of(info);
  occupy(worker, 1, {});
  EXPECT_DOUBLE_EQ(capacity_part(worker), 0.75);
}

TEST(Score, CountsLoadHalfByExecutionsAndHalfByTheProcessor) {
  LiveWorker worker = worker_of(four_slots());
  EXPECT_DOUBLE_EQ(load_part(worker), 1);
  occupy(worker, 2, {});
  EXPECT_DOUBLE_EQ(load_part(worker), 0.75);
  worker.cpu_load = 0.5;
  EXPECT_DOUBLE_EQ(load_part(worker), 0.5);
  worker.cpu_load = 7;
  EXPECT_DOUBLE_EQ(load_part(worker), 0.25) << "a load that cannot be counts as full";
}

TEST(Score, GivesAffinityToThePreferredProvider) {
  Shape shape;
  shape.preferred_provider = "docker";
  WorkerInfo info = four_slots();
  EXPECT_DOUBLE_EQ(fit_of(shape, info).affinity, 0);
  info.provider = "docker";
  EXPECT_DOUBLE_EQ(fit_of(shape, info).affinity, 1);
}

TEST(Score, TakesHalfOfTheAffinityForASoftTaintThatIsNotTolerated) {
  WorkerInfo info = four_slots();
  info.taints = {{"slow", "yes", TaintEffect::PreferNoSchedule}};
  Shape shape;
  EXPECT_DOUBLE_EQ(favour_of(fit_of(shape, info), SchedulerConfig()), -10);
  EXPECT_TRUE(is_kept(0.1, fit_of(shape, info), SchedulerConfig())) << "it keeps nobody out";
  shape.preferred_provider = "manual";
  EXPECT_DOUBLE_EQ(favour_of(fit_of(shape, info), SchedulerConfig()), 10);
  shape.tolerations = {{"slow", "yes"}};
  EXPECT_DOUBLE_EQ(favour_of(fit_of(shape, info), SchedulerConfig()), 20);
}

TEST(Score, GivesHalfForTheRightRegionAndTheWrongZone) {
  Shape shape;
  shape.preferred_zone = "eu-1a";
  WorkerInfo info = four_slots();
  info.labels = {{"region", "eu-1"}, {"zone", "eu-1b"}};
  EXPECT_DOUBLE_EQ(fit_of(shape, info).zone, 0);
  shape.preferred_region = "eu-1";
  EXPECT_DOUBLE_EQ(fit_of(shape, info).zone, 0.5);
  info.labels["zone"] = "eu-1a";
  EXPECT_DOUBLE_EQ(fit_of(shape, info).zone, 1);
}

TEST(Score, IsMadeOfItsWeights) {
  SchedulerConfig config;
  config.capacity = 1;
  config.load = 2;
  config.affinity = 3;
  config.zone = 4;
  config.history = 5;
  LiveWorker worker = worker_of(four_slots());
  worker.success = 0.5;
  const Score score = score_of(worker, Fit{0.5, 0.25}, config);
  EXPECT_EQ(score, (Score{1, 2, 1.5, 1, 2.5}));
  EXPECT_DOUBLE_EQ(rank_of(worker, config), 1 + 2 + 2.5) << "the part that does not depend on the shape";
}

}  // namespace
}  // namespace hodei::core::score_test
