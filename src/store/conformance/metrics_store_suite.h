// What every MetricsStore promises, as one suite: INSTANTIATE_TEST_SUITE_P(Name, MetricsStoreSuite, values) beside
// each.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "src/store/metrics_store.h"

namespace hodei::store {

struct MetricsStoreKind {
  std::string name;
  std::function<std::unique_ptr<MetricsStore>()> make;
};

class MetricsStoreSuite : public testing::TestWithParam<MetricsStoreKind> {
 protected:
  MetricsStoreSuite();
  ~MetricsStoreSuite() override;
  MetricsStore& store() { return *store_; }
  std::vector<MetricSample> read(const MetricQuery& query);

 private:
  std::unique_ptr<MetricsStore> store_;
};

}  // namespace hodei::store
