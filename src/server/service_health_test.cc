#include "src/server/service_health.h"

#include <map>

#include "gtest/gtest.h"

namespace hodei::server::service_health_test {
namespace {

std::map<std::string, std::string> reasons(const ServiceFacts& facts) {
  std::map<std::string, std::string> out;
  for (const ServiceHealth& one : assess_services(facts)) {
    EXPECT_EQ(one.serving, one.reason.empty()) << one.name;
    if (!one.serving) out[std::string(one.name)] = one.reason;
  }
  return out;
}

TEST(ServiceHealth, AllServeWhenNothingIsWrong) {
  EXPECT_TRUE(reasons({.loaded = true}).empty());
  EXPECT_EQ(assess_services({}).size(), 9u);
}

TEST(ServiceHealth, AStoreThatIsAwayLeavesLogsAndAdminServing) {
  const auto bad = reasons({.loaded = true, .commits = false, .trouble = "disk gone"});
  EXPECT_EQ(bad.at("hodei.v1.JobExecutionService"), "nothing can be committed: disk gone");
  EXPECT_TRUE(bad.contains("hodei.v1.WorkerAgentService"));
  EXPECT_FALSE(bad.contains("hodei.v1.LogStreamService"));
  EXPECT_FALSE(bad.contains("hodei.v1.AdminService"));
}

TEST(ServiceHealth, ALogStoreThatIsStuckLeavesTheRestServing) {
  const auto bad = reasons({.loaded = true, .logs_stuck = true});
  EXPECT_EQ(bad.size(), 1u);
  EXPECT_TRUE(bad.contains("hodei.v1.LogStreamService"));
}

TEST(ServiceHealth, AFullDiskIsToldByWhomeverItKeepsFromWorking) {
  const auto bad = reasons({.loaded = true, .disk_low = true, .samples_held = true});
  EXPECT_EQ(bad.size(), 4u);
  EXPECT_TRUE(bad.contains("hodei.v1.JobExecutionService"));
  EXPECT_TRUE(bad.contains("hodei.v1.JobInputService"));
  EXPECT_TRUE(bad.contains("hodei.v1.ArtifactService"));
  EXPECT_TRUE(bad.contains("hodei.v1.MetricsService"));
}

TEST(ServiceHealth, AServiceWithoutNeedsOfItsOwnServesAsLongAsTheEngineDoes) {
  for (const bool loaded : {true, false}) {
    auto assessed = assess_services({.loaded = loaded, .logs_stuck = true, .disk_low = true});
    add_if_missing("hodei.v1.ServiceOfANewModule", assessed);
    ASSERT_EQ(assessed.size(), 10u);
    EXPECT_EQ(assessed.back().name, "hodei.v1.ServiceOfANewModule");
    EXPECT_EQ(assessed.back().serving, loaded) << assessed.back().reason;
    add_if_missing("hodei.v1.AdminService", assessed);
    EXPECT_EQ(assessed.size(), 10u) << "it is there";
  }
}

TEST(ServiceHealth, NoneServesWhenTheServerStops) { EXPECT_EQ(reasons({.stopping = true, .loaded = true}).size(), 9u); }

}  // namespace
}  // namespace hodei::server::service_health_test
