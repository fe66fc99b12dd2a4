#include "src/store/memory/memory_metrics_store.h"

#include "src/store/conformance/metrics_store_suite.h"

namespace hodei::store::memory_metrics_store_test {
namespace {

INSTANTIATE_TEST_SUITE_P(Memory, MetricsStoreSuite,
                         testing::Values(MetricsStoreKind{"memory",
                                                          [] { return std::make_unique<MemoryMetricsStore>(); }}));

}  // namespace
}  // namespace hodei::store::memory_metrics_store_test
