#include "src/store/memory/memory_log_store.h"

#include "src/store/conformance/log_store_suite.h"

namespace hodei::store::memory_log_store_test {
namespace {

class Harness final : public LogStoreHarness {
 public:
  NumberedLogStore& store() override { return store_; }
  HandClock& clock() override { return clock_; }

 private:
  HandClock clock_;
  MemoryLogStore store_{&clock_};
};

INSTANTIATE_TEST_SUITE_P(Memory, LogStoreSuite,
                         testing::Values(LogStoreKind{"memory", [] { return std::make_unique<Harness>(); }}));

}  // namespace
}  // namespace hodei::store::memory_log_store_test
