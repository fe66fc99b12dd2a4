// The table of docs/semantics.md#system-state.
#include "src/server/system_state.h"

#include "gtest/gtest.h"

namespace hodei::server::system_state_test {
namespace {

SystemFacts healthy() {
  SystemFacts facts;
  facts.loaded = true;
  facts.workers = 4;
  return facts;
}

TEST(SystemStateTest, FollowsFromTheFacts) {
  SystemFacts loading = healthy();
  loading.loaded = false;
  SystemFacts running = healthy();
  running.active = 1;
  SystemFacts one_ill = running;
  one_ill.unhealthy = 1;
  SystemFacts half_ill = running;
  half_ill.unhealthy = 2;
  SystemFacts slow = healthy();
  slow.slowest_commit = kSlowCommit;
  SystemFacts quick = healthy();
  quick.slowest_commit = kSlowCommit - 1ms;
  SystemFacts stuck = running;
  stuck.commits = false;
  SystemFacts stopping = stuck;
  stopping.stopping = true;
  EXPECT_EQ(assess(loading).state, SystemState::Initializing);
  EXPECT_EQ(assess(healthy()).state, SystemState::Ready);
  EXPECT_EQ(assess(running).state, SystemState::Running);
  EXPECT_EQ(assess(one_ill).state, SystemState::Degraded);
  EXPECT_EQ(assess(half_ill).state, SystemState::Critical);
  EXPECT_EQ(assess(slow).state, SystemState::Degraded);
  EXPECT_EQ(assess(quick).state, SystemState::Ready);
  EXPECT_EQ(assess(stuck).state, SystemState::Critical);
  EXPECT_EQ(assess(stopping).state, SystemState::Shutdown);
}

TEST(SystemStateTest, IsReadyWithoutAnyWorker) {
  SystemFacts facts = healthy();
  facts.workers = 0;
  EXPECT_EQ(assess(facts).state, SystemState::Ready);
}

TEST(SystemStateTest, AnUnhealthyProviderThatIsWantedDegradesIt) {
  SystemFacts facts = healthy();
  facts.provider_trouble = "provider docker is unhealthy: no socket";
  EXPECT_EQ(assess(facts).state, SystemState::Degraded);
  EXPECT_EQ(assess(facts).reason, "provider docker is unhealthy: no socket");
}

TEST(SystemStateTest, IsShownWithItsReason) {
  SystemFacts facts = healthy();
  facts.unhealthy = 1;
  EXPECT_EQ(assess(facts).reason, "1 of 4 workers are unhealthy");
  facts.commits = false;
  facts.trouble = "disk I/O error";
  EXPECT_EQ(assess(facts).reason, "nothing can be committed: disk I/O error");
}

}  // namespace
}  // namespace hodei::server::system_state_test
