#include "src/store/conformance/metrics_store_suite.h"

#include "gmock/gmock.h"

namespace hodei::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

MetricSample sample(const std::string& worker, int64_t second, JobId job = JobId{}) {
  MetricSample out;
  out.at = {second * 1'000'000};
  out.worker = WorkerId(worker);
  out.job = job;
  out.cpu = 0.25 * static_cast<double>(second);
  out.memory_bytes = second << 30;
  out.network_rx = 1.5;
  out.network_tx = 2.5;
  out.disk_read = 3.5;
  out.disk_write = 4.5;
  return out;
}

MetricQuery seconds(int64_t from, int64_t until) { return {{from * 1'000'000}, {until * 1'000'000}, {}, {}}; }

}  // namespace

MetricsStoreSuite::MetricsStoreSuite() : store_(GetParam().make()) {}
MetricsStoreSuite::~MetricsStoreSuite() = default;

std::vector<MetricSample> MetricsStoreSuite::read(const MetricQuery& query) {
  std::vector<MetricSample> out;
  const absl::Status status = store().read(query, [&out](const MetricSample& s) {
    out.push_back(s);
    return true;
  });
  EXPECT_TRUE(status.ok()) << status;
  return out;
}

TEST_P(MetricsStoreSuite, GivesBackWhatWasAppendedByWorkerAndTime) {
  ASSERT_TRUE(store().append({sample("b", 2), sample("a", 1), sample("a", 3)}).ok());
  ASSERT_TRUE(store().append({sample("a", 2)}).ok());
  EXPECT_THAT(read(seconds(0, 10)), ElementsAre(sample("a", 1), sample("a", 2), sample("a", 3), sample("b", 2)));
}

TEST_P(MetricsStoreSuite, BeginsWithTheFirstMomentAndEndsBeforeTheLast) {
  ASSERT_TRUE(store().append({sample("a", 1), sample("a", 2), sample("a", 3)}).ok());
  EXPECT_THAT(read(seconds(2, 3)), ElementsAre(sample("a", 2)));
  EXPECT_THAT(read(seconds(4, 9)), IsEmpty());
}

TEST_P(MetricsStoreSuite, TellsWorkersAndJobsApart) {
  ASSERT_TRUE(
      store().append({sample("a", 1), sample("b", 1), sample("b", 1, JobId{7}), sample("b", 1, JobId{8})}).ok());
  MetricQuery query = seconds(0, 10);
  query.workers = {WorkerId("b"), WorkerId("nobody")};
  EXPECT_THAT(read(query), ElementsAre(sample("b", 1)));
  query.job = JobId{7};
  EXPECT_THAT(read(query), ElementsAre(sample("b", 1, JobId{7})));
}

TEST_P(MetricsStoreSuite, StopsWhenTheVisitorHasEnough) {
  ASSERT_TRUE(store().append({sample("a", 1), sample("a", 2), sample("b", 1)}).ok());
  int seen = 0;
  ASSERT_TRUE(store().read(seconds(0, 10), [&seen](const MetricSample&) { return ++seen < 2; }).ok());
  EXPECT_EQ(seen, 2);
}

TEST_P(MetricsStoreSuite, ForgetsWhatIsOlder) {
  ASSERT_TRUE(store().append({sample("gone", 1), sample("a", 1), sample("a", 2)}).ok());
  ASSERT_TRUE(store().forget_before({2'000'000}).ok());
  EXPECT_THAT(read(seconds(0, 10)), ElementsAre(sample("a", 2)));
  ASSERT_TRUE(store().append({sample("gone", 5)}).ok());
  EXPECT_THAT(read(seconds(3, 10)), ElementsAre(sample("gone", 5)));
}

TEST_P(MetricsStoreSuite, ForgetsMoreThanFitsIntoOneStep) {
  std::vector<MetricSample> many;
  for (int64_t i = 0; i < 25'000; ++i) many.push_back(sample("a", i));
  ASSERT_TRUE(store().append(many).ok());
  ASSERT_TRUE(store().forget_before({int64_t{24'999} * 1'000'000}).ok());
  EXPECT_THAT(read(seconds(0, 100'000)), ElementsAre(sample("a", 24'999)));
}

}  // namespace hodei::store
