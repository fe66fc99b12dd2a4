// Each placement rule by itself, and the order in which they speak.
#include "gtest/gtest.h"
#include "src/core/placement/rules/labels.h"
#include "src/core/placement/rules/rule.h"

namespace hodei::core::rules_test {
namespace {

WorkerInfo plain_worker() {
  WorkerInfo info;
  info.architecture = "amd64";
  info.capacity = {4000, 8192, 1000, 0};
  info.capabilities = {"script", "shell"};
  info.provider = "manual";
  return info;
}

// The rule that turns the worker away; empty if none does.
std::string verdict(const Shape& shape, const WorkerInfo& worker) {
  const std::optional<Rejection> no = first_rejection(shape, worker);
  return no ? std::string(no->rule->name) : "";
}

TEST(Rules, LetAPlainJobRunOnAnyPlainWorker) { EXPECT_EQ(verdict(Shape(), plain_worker()), ""); }

TEST(SizeRule, SpeaksOfSizesAsPeopleDo) {
  Shape shape;
  WorkerInfo worker = plain_worker();
  worker.capacity.memory_mb = 24105;
  shape.needs.memory_mb = 32768;
  EXPECT_EQ(first_rejection(shape, worker)->reason, "has 23.5 GiB of memory, but the job needs 32 GiB");
  shape.needs.memory_mb = 24106;
  EXPECT_EQ(first_rejection(shape, worker)->reason, "has 24105 MiB of memory, but the job needs 24106 MiB");
}

TEST(ProviderRule, KeepsAJobOnWorkersOfItsProvider) {
  Shape shape;
  shape.provider = "docker";
  WorkerInfo worker = plain_worker();
  EXPECT_EQ(verdict(shape, worker), "provider");
  worker.provider = "docker";
  EXPECT_EQ(verdict(shape, worker), "");
}

TEST(ImageRule, SendsAJobWithAnImageOnlyToWorkersMadeFromIt) {
  Shape shape;
  shape.image = "debian:12";
  WorkerInfo worker = plain_worker();
  EXPECT_EQ(verdict(shape, worker), "image");
  worker.image = "debian:11";
  EXPECT_EQ(verdict(shape, worker), "image");
  worker.image = "debian:12";
  EXPECT_EQ(verdict(shape, worker), "");
}

TEST(ImageRule, LetsAJobWithoutAnImageRunOnAWorkerMadeFromOne) {
  WorkerInfo worker = plain_worker();
  worker.image = "debian:12";
  EXPECT_EQ(verdict(Shape(), worker), "");
}

TEST(PoolRule, SendsAJobOfAPoolOnlyToThatPool) {
  Shape shape;
  shape.pool = "get_main";
  WorkerInfo worker = plain_worker();
  EXPECT_EQ(verdict(shape, worker), "pool");
  worker.labels["pool"] = "get_poller";
  EXPECT_EQ(verdict(shape, worker), "pool");
  worker.labels["pool"] = "get_main";
  EXPECT_EQ(verdict(shape, worker), "");
}

TEST(CapabilityRule, WantsEveryCapability) {
  Shape shape;
  shape.capabilities = {"shell", "snmp"};
  WorkerInfo worker = plain_worker();
  EXPECT_EQ(verdict(shape, worker), "capabilities");
  worker.capabilities = {"script", "shell", "snmp"};
  EXPECT_EQ(verdict(shape, worker), "");
}

TEST(LabelRules, HoldForTheirOperators) {
  const Labels labels = {{"zone", "a"}, {"disk", "20"}, {"size", "big"}};
  EXPECT_TRUE(holds({"zone", LabelOperator::In, {"b", "a"}}, labels));
  EXPECT_FALSE(holds({"zone", LabelOperator::In, {"b"}}, labels));
  EXPECT_FALSE(holds({"rack", LabelOperator::In, {"a"}}, labels));
  EXPECT_FALSE(holds({"zone", LabelOperator::NotIn, {"a"}}, labels));
  EXPECT_TRUE(holds({"zone", LabelOperator::NotIn, {"b"}}, labels));
  EXPECT_TRUE(holds({"rack", LabelOperator::NotIn, {"a"}}, labels));
  EXPECT_TRUE(holds({"zone", LabelOperator::Exists, {}}, labels));
  EXPECT_FALSE(holds({"rack", LabelOperator::Exists, {}}, labels));
  EXPECT_FALSE(holds({"zone", LabelOperator::DoesNotExist, {}}, labels));
  EXPECT_TRUE(holds({"rack", LabelOperator::DoesNotExist, {}}, labels));
  EXPECT_TRUE(holds({"disk", LabelOperator::Gt, {"19"}}, labels));
  EXPECT_FALSE(holds({"disk", LabelOperator::Gt, {"20"}}, labels));
  EXPECT_TRUE(holds({"disk", LabelOperator::Lt, {"100"}}, labels));
  EXPECT_FALSE(holds({"disk", LabelOperator::Lt, {"20"}}, labels));
}

TEST(LabelRules, CompareNumbersAndNotTexts) {
  const Labels labels = {{"disk", "100"}, {"size", "big"}, {"odd", "12x"}};
  EXPECT_TRUE(holds({"disk", LabelOperator::Gt, {"99"}}, labels)) << "as texts, 100 would sort below 99";
  EXPECT_FALSE(holds({"size", LabelOperator::Gt, {"0"}}, labels));
  EXPECT_FALSE(holds({"odd", LabelOperator::Gt, {"0"}}, labels));
  EXPECT_TRUE(holds({"disk", LabelOperator::Gt, {"-5"}}, labels));
}

TEST(LabelRules, MustAllHold) {
  Shape shape;
  shape.labels = {{"zone", LabelOperator::Exists, {}}, {"gpu", LabelOperator::DoesNotExist, {}}};
  WorkerInfo worker = plain_worker();
  worker.labels = {{"zone", "a"}, {"gpu", "yes"}};
  EXPECT_EQ(verdict(shape, worker), "labels");
  worker.labels.erase("gpu");
  EXPECT_EQ(verdict(shape, worker), "");
}

TEST(TaintRule, KeepsAwayJobsThatDoNotTolerateEveryHardTaint) {
  WorkerInfo worker = plain_worker();
  worker.taints = {{"team", "a", TaintEffect::NoSchedule}, {"old", "yes", TaintEffect::NoExecute}};
  Shape shape;
  EXPECT_EQ(verdict(shape, worker), "taints");
  shape.tolerations = {{"team", "a"}};
  EXPECT_EQ(verdict(shape, worker), "taints");
  shape.tolerations = {{"team", "a"}, {"old", ""}};
  EXPECT_EQ(verdict(shape, worker), "");
  shape.tolerations = {{"team", "b"}, {"old", ""}};
  EXPECT_EQ(verdict(shape, worker), "taints");
  shape.tolerations = {{"", ""}};
  EXPECT_EQ(verdict(shape, worker), "");
}

TEST(TaintRule, OnlyAdvisesAgainstASoftTaint) {
  WorkerInfo worker = plain_worker();
  worker.taints = {{"slow", "yes", TaintEffect::PreferNoSchedule}};
  EXPECT_EQ(verdict(Shape(), worker), "");
}

TEST(ArchitectureRule, KeepsAJobOnItsArchitecture) {
  Shape shape;
  shape.architecture = "arm64";
  WorkerInfo worker = plain_worker();
  EXPECT_EQ(verdict(shape, worker), "architecture");
  worker.architecture = "arm64";
  EXPECT_EQ(verdict(shape, worker), "");
  worker.architecture = "aarch64";
  EXPECT_EQ(verdict(shape, worker), "") << "the same by another name";
}

TEST(IsolationRule, TakesTheSameOrStrongerIsolation) {
  Shape shape;
  shape.isolation = Isolation::Container;
  WorkerInfo worker = plain_worker();
  EXPECT_EQ(verdict(shape, worker), "isolation");
  worker.isolation = Isolation::Container;
  EXPECT_EQ(verdict(shape, worker), "");
  worker.isolation = Isolation::Hardware;
  EXPECT_EQ(verdict(shape, worker), "");
}

TEST(SizeRule, TurnsAwayWorkersThatAreTooSmallInAnyAmount) {
  const Amounts too_much[] = {{4001, 0, 0, 0}, {0, 8193, 0, 0}, {0, 0, 1001, 0}, {0, 0, 0, 1}};
  for (const Amounts& needs : too_much) {
    Shape shape;
    shape.needs = needs;
    EXPECT_EQ(verdict(shape, plain_worker()), "size");
  }
  Shape all;
  all.needs = {4000, 8192, 1000, 0};
  EXPECT_EQ(verdict(all, plain_worker()), "");
}

TEST(LimitsRule, TakesAJobWithLimitsOnlyWhereTheyHold) {
  WorkerInfo pod = plain_worker();
  pod.isolation = Isolation::Container;
  Shape shape, free;
  shape.needs = {250, 512, 0, 0};
  EXPECT_EQ(verdict(shape, pod), "") << "it holds single jobs to their limits";
  pod.lacks = kLimitCpu | kLimitMemory | kOwnCpu | kOwnMemory;
  EXPECT_EQ(verdict(shape, pod), "limits") << "nothing limits it";
  EXPECT_EQ(verdict(free, pod), "");
  pod.lacks = kLimitCpu | kLimitMemory;
  EXPECT_EQ(verdict(shape, pod), "limits") << "it is much larger";
  pod.capacity.cpu_milli = 250;
  pod.capacity.memory_mb = 512;
  EXPECT_EQ(verdict(shape, pod), "") << "its own limits are those of the job";
  shape.needs.memory_mb = 256;
  EXPECT_EQ(verdict(shape, pod), "limits");
  pod.labels["pool"] = "p";
  EXPECT_EQ(verdict(shape, pod), "") << "somebody chose this size for all jobs of the pool";
  WorkerInfo process = plain_worker();
  process.isolation = Isolation::Process;
  process.lacks = kLimitCpu | kLimitMemory | kOwnCpu | kOwnMemory;
  EXPECT_EQ(verdict(shape, process), "") << "it does what it can, and says so at the end of the job";
}

TEST(LimitsRule, TurnsAwayWhoCannotDoWhatTheJobAsksFor) {
  WorkerInfo worker = plain_worker();
  worker.lacks = kSandbox;
  Shape shape;
  EXPECT_EQ(verdict(shape, worker), "");
  shape.asks = kSandbox;
  EXPECT_EQ(verdict(shape, worker), "limits");
  shape.asks = kSecretFiles;
  EXPECT_EQ(verdict(shape, worker), "");
}

TEST(Rules, EachNameTheirReasonAndWhatWouldHelp) {
  Shape shape;
  shape.pool = "gpu";
  const std::optional<Rejection> no = first_rejection(shape, plain_worker());
  ASSERT_TRUE(no);
  EXPECT_EQ(no->reason, "is not in pool 'gpu'");
  for (const Rule& rule : rules()) EXPECT_FALSE(rule.unblocked_by.empty()) << rule.name;
}

}  // namespace
}  // namespace hodei::core::rules_test
