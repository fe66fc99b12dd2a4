#include "src/store/sqlite/sqlite_metrics_store.h"

#include "src/store/conformance/metrics_store_suite.h"
#include "src/store/sqlite/test_folder.h"

namespace hodei::store::sqlite_metrics_store_test {
namespace {

// Reads through a second opening of the same folder: what is not on the disk is not there.
class Reopened final : public MetricsStore {
 public:
  absl::Status append(const std::vector<MetricSample>& samples) override { return open()->append(samples); }
  absl::Status forget_before(WallTime limit) override { return open()->forget_before(limit); }
  absl::Status read(const MetricQuery& query, const SampleVisitor& visit) override {
    return open()->read(query, visit);
  }

 private:
  std::unique_ptr<SqliteMetricsStore> open() { return SqliteMetricsStore::open(folder_.path()).value(); }
  TestFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Sqlite, MetricsStoreSuite,
                         testing::Values(MetricsStoreKind{"sqlite", [] { return std::make_unique<Reopened>(); }}));

TEST(SqliteMetricsStore, IsReadWhileItIsWritten) {
  TestFolder folder;
  const auto store = SqliteMetricsStore::open(folder.path()).value();
  MetricSample sample;
  sample.at = {1};
  sample.worker = WorkerId("a");
  ASSERT_TRUE(store->append({sample, sample}).ok());
  int seen = 0;
  ASSERT_TRUE(
      store->read({{0}, {10}, {}, {}}, [&](const MetricSample&) { return store->append({sample}).ok() && ++seen > 0; })
          .ok());
  EXPECT_EQ(seen, 2);  // the snapshot of the read
}

}  // namespace
}  // namespace hodei::store::sqlite_metrics_store_test
