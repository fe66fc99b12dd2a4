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

// One thread, taken until it is let go.
class TakenPool {
 public:
  explicit TakenPool(ReadPool::Limits limits) : pool("reads", limits) {
    pool.start();
    std::promise<void> begun;
    EXPECT_EQ(pool.post([&, allowed = go_on_.get_future().share()] { begun.set_value(), allowed.wait(); }),
              absl::OkStatus());
    begun.get_future().wait();
  }
  void let_go() {
    go_on_.set_value();
    pool.stop();
  }
  ReadPool pool;

 private:
  std::promise<void> go_on_;
};

TEST(ReadPool, WhatIsDoneInAMomentDoesNotWaitForWhatTakesLong) {
  TakenPool taken({.threads = 1, .waiting = 2});
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(taken.pool.post({.peer = "ipv4:10.0.0.1:7"}, [] {}).ok());
  EXPECT_FALSE(taken.pool.post({.peer = "ipv4:10.0.0.2:7"}, [] {}).ok()) << "it is full";
  std::promise<void> looked_up;
  EXPECT_TRUE(taken.pool.post({"ipv4:10.0.0.1:7", ReadPool::Lane::Quick}, [&] { looked_up.set_value(); }).ok());
  looked_up.get_future().wait();  // while the thread of the long ones is still taken
  taken.let_go();
}

TEST(ReadPool, ThoseWhoAskTakeTurns) {
  TakenPool taken({.threads = 1, .waiting = 100});
  std::string order;
  const auto ask = [&](const std::string& peer, char c) {
    EXPECT_TRUE(taken.pool.post({.peer = peer}, [&order, c] { order.push_back(c); }).ok());
  };
  for (int i = 0; i < 5; ++i) ask("ipv4:10.0.0.1:1", 'a');
  for (int i = 0; i < 2; ++i) ask("ipv4:10.0.0.1:2", 'b');
  ask("ipv4:10.0.0.2:1", 'c');
  taken.let_go();
  EXPECT_EQ(order, "abcabaaa");
}

TEST(ReadPool, OneConnectionAndOneMachineLeaveRoomForOthers) {
  TakenPool taken({.threads = 1, .waiting = 6, .of_peer = 2, .of_machine = 3});
  const auto ask = [&](const std::string& peer) { return taken.pool.post({.peer = peer}, [] {}); };
  EXPECT_TRUE(ask("ipv4:10.0.0.1:1").ok());
  EXPECT_TRUE(ask("ipv4:10.0.0.1:1").ok());
  EXPECT_THAT(std::string(ask("ipv4:10.0.0.1:1").message()), testing::HasSubstr("2 reads of this connection"));
  EXPECT_TRUE(ask("ipv4:10.0.0.1:2").ok());
  EXPECT_THAT(std::string(ask("ipv4:10.0.0.1:3").message()), testing::HasSubstr("3 reads of this machine"));
  EXPECT_TRUE(ask("ipv4:10.0.0.2:1").ok());
  taken.let_go();
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
