#include "src/store/memory/memory_store.h"

#include "src/store/conformance/store_suite.h"

namespace hodei::store::memory_store_test {
namespace {

class MemoryUnderTest final : public StoreUnderTest {
 public:
  Store& store() override { return store_; }
  Reader& reader() override { return store_; }
  void reopen() override {}

 private:
  MemoryStore store_;
};

INSTANTIATE_TEST_SUITE_P(Memory, StoreSuite,
                         testing::Values(Backend{"Memory", [] { return std::make_unique<MemoryUnderTest>(); }}),
                         backend_name);

struct Rig {
  MemoryStore store;
  Epoch epoch = store.new_epoch().value();
  absl::Status commit(const core::Writes& writes) {
    return store.commit(writes, epoch, BatchNo{static_cast<uint64_t>(store.last_batch().value()) + 1});
  }
};

TEST(MemoryStore, AFullDiskWritesNothingOnce) {
  Rig rig;
  rig.store.fail_next_commit(CommitFault::DiskFull);
  EXPECT_EQ(rig.commit(entering(a_job(1))).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(rig.store.last_batch().value(), BatchNo{0});
  EXPECT_EQ(rig.commit(entering(a_job(1))), absl::OkStatus());
}

TEST(MemoryStore, ALostCommitMayHaveHappenedOrNot) {
  for (const CommitFault fault : {CommitFault::LostBefore, CommitFault::LostAfter}) {
    Rig rig;
    rig.store.fail_next_commit(fault);
    EXPECT_EQ(rig.commit(entering(a_job(1))).code(), absl::StatusCode::kUnavailable);
    const bool happened = fault == CommitFault::LostAfter;
    EXPECT_EQ(rig.store.last_batch().value(), BatchNo{happened});
    EXPECT_EQ(rig.store.job(JobId{1}).ok(), happened);
  }
}

TEST(MemoryStore, ACopyIsASnapshot) {
  Rig rig;
  ASSERT_EQ(rig.commit(entering(a_job(1))), absl::OkStatus());
  MemoryStore copy = rig.store;
  ASSERT_EQ(rig.commit(entering(a_job(2))), absl::OkStatus());
  EXPECT_FALSE(copy.job(JobId{2}).ok());
  EXPECT_EQ(copy.last_batch().value(), BatchNo{1});
  copy = rig.store;
  EXPECT_TRUE(copy.job(JobId{2}).ok());
}

}  // namespace
}  // namespace hodei::store::memory_store_test
