#include "src/server/read_pool.h"

#include <atomic>
#include <future>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hodei::server::read_pool_test {
namespace {

TEST(ReadPool, RefusesMoreThanMayWaitAndSaysWhatToDo) {
  ReadPool pool("reads", {.threads = 1, .waiting = 2});
  pool.start();
  std::promise<void> begun;
  std::promise<void> go_on;
  const std::shared_future<void> allowed = go_on.get_future().share();
  ASSERT_EQ(pool.post([&] { begun.set_value(), allowed.wait(); }), absl::OkStatus());
  begun.get_future().wait();  // the one thread is taken
  std::atomic<int> done = 0;
  EXPECT_EQ(pool.post([&] { ++done; }), absl::OkStatus());
  EXPECT_EQ(pool.post([&] { ++done; }), absl::OkStatus());
  const absl::Status full = pool.post([&] { ++done; });
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(full.message()), testing::HasSubstr("2 reads are already waiting; try again"));
  pool.post_always([&] { ++done; });
  go_on.set_value();
  pool.stop();
  EXPECT_EQ(done, 3) << "what was taken is done, also when the pool stops";
}

TEST(ReadPool, AfterItsEndItTakesNothing) {
  ReadPool pool("reads", {.threads = 1, .waiting = 2});
  pool.start();
  pool.stop();
  bool called = false;
  EXPECT_EQ(pool.post([&] { called = true; }).code(), absl::StatusCode::kUnavailable);
  pool.post_always([&] { called = true; });
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace hodei::server::read_pool_test
