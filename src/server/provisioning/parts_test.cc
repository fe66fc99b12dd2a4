// The small parts of the provisioner: call pools, the table of types, and the words between engine and providers.
#include <atomic>
#include <future>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/server/provisioning/call_pool.h"
#include "src/server/provisioning/factories.h"
#include "src/server/provisioning/worker_terms.h"

namespace hodei::server::parts_test {
namespace {

using testing::HasSubstr;

TEST(CallPool, RunsWhatItIsGivenOnNoMoreThreadsThanItMay) {
  CallPool pool(2, 100);
  std::atomic<int> at_once = 0, most = 0, done = 0;
  std::promise<void> all;
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(pool.add([&] {
      const int now = ++at_once;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      --at_once;
      if (++done == 50) all.set_value();
    }));
  }
  all.get_future().wait();
  EXPECT_LE(most, 2);
}

TEST(CallPool, RefusesWhatIsTooMuch) {
  std::promise<void> go;
  std::shared_future<void> wait = go.get_future().share();
  CallPool pool(1, 2);
  std::promise<void> begun;
  ASSERT_TRUE(pool.add([&begun, wait] { begun.set_value(), wait.wait(); }));
  begun.get_future().wait();
  EXPECT_TRUE(pool.add([] {}));
  EXPECT_TRUE(pool.add([] {}));
  EXPECT_FALSE(pool.add([] {}));
  go.set_value();
  EXPECT_TRUE(pool.stop(20s));
  EXPECT_FALSE(pool.add([] {})) << "it was stopped";
}

TEST(CallPool, LeavesBehindWhatHangs) {
  auto go = std::make_shared<std::promise<void>>();
  auto ended = std::make_shared<std::promise<void>>();
  std::promise<void> begun;
  {
    CallPool pool(1, 10);
    pool.add([&begun, wait = go->get_future().share(), ended] { begun.set_value(), wait.wait(), ended->set_value(); });
    begun.get_future().wait();
    EXPECT_FALSE(pool.stop(1ms));
  }
  go->set_value();
  ended->get_future().wait();  // it still could use what it holds
}

TEST(Factories, NameTheTypesThatThereAre) {
  EXPECT_TRUE(has_provider_type("process"));
  EXPECT_FALSE(has_provider_type("dockr"));
  const absl::Status bad = make_provider({"x", "dockr", {}}, {}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(bad));
  EXPECT_THAT(std::string(bad.message()), HasSubstr("type: 'dockr' is not one of process"));
}

TEST(WorkerTerms, AnAddressForEverybodyBecomesOneThatCanBeReached) {
  EXPECT_EQ(reachable("127.0.0.1:50051"), "127.0.0.1:50051");
  EXPECT_EQ(reachable("[::1]:50051"), "[::1]:50051");
  EXPECT_EQ(reachable("hodei.example:1"), "hodei.example:1");
  for (const char* any : {"0.0.0.0:7", "[::]:7", "*:7"}) {
    const std::string found = reachable(any);
    EXPECT_TRUE(found.ends_with(":7")) << found;
    EXPECT_EQ(found.find(any), std::string::npos);
    EXPECT_NE(found, ":7");
  }
}

TEST(WorkerTerms, AWorkerIsMadeAsItsRecordSays) {
  core::WorkerRecord record;
  record.info.id = WorkerId("w1");
  record.info.capacity = {500, 128, 64, 1};
  record.info.slots = 3;
  record.info.image = "i";
  record.info.architecture = "aarch64";
  record.info.labels = {{"a", "b"}};
  const providers::WorkerSpec spec = spec_of(record, "s:1");
  EXPECT_EQ(spec.worker_id, "w1");
  EXPECT_EQ(spec.cpu_milli, 500);
  EXPECT_EQ(spec.memory_mb, 128);
  EXPECT_EQ(spec.storage_mb, 64);
  EXPECT_EQ(spec.gpus, 1);
  EXPECT_EQ(spec.slots, 3u);
  EXPECT_EQ(spec.image, "i");
  EXPECT_EQ(spec.architecture, "aarch64");
  EXPECT_EQ(spec.server_address, "s:1");
  EXPECT_EQ(spec.labels.at("a"), "b");
  EXPECT_TRUE(spec.token.empty());
  record.info.capacity = {int64_t{1} << 40, int64_t{1} << 40, int64_t{1} << 40, 0};
  const providers::WorkerSpec whole = spec_of(record, "s:1");
  EXPECT_EQ(whole.cpu_milli + whole.memory_mb + whole.storage_mb, 0) << "whatever there is";
}

}  // namespace
}  // namespace hodei::server::parts_test
