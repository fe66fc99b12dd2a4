#include "src/worker/common_environment.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hodei::worker {
namespace {

using testing::ElementsAre;

std::vector<std::string> with(const CommonEnvironment& common, std::vector<std::string> own) {
  std::vector<std::string> out;
  for (const char* pair : common.with(own)) {
    if (pair != nullptr) out.emplace_back(pair);
  }
  return out;
}

CommonEnvironment of(std::vector<std::string> pairs) {
  std::vector<char*> pointers;
  for (std::string& pair : pairs) pointers.push_back(pair.data());
  pointers.push_back(nullptr);
  return CommonEnvironment(pointers.data());
}

TEST(CommonEnvironment, PassesOnWhatIsNotForTheWorkerAlone) {
  EXPECT_THAT(with(of({"HOME=/root", "HODEI_TOKEN=secret", "PATH=/bin", "=odd", "odd", "A="}), {}),
              ElementsAre("A=", "HOME=/root", "PATH=/bin"));
}

TEST(CommonEnvironment, OfTheSameNameTwiceTheFirstCounts) {
  EXPECT_THAT(with(of({"A=1", "PATH=/bin", "A=2"}), {}), ElementsAre("A=1", "PATH=/bin"));
}

TEST(CommonEnvironment, AJobsOwnPairsWin) {
  const CommonEnvironment common = of({"A=1", "AB=2", "PATH=/bin"});
  EXPECT_THAT(with(common, {"A=own=1", "B=3"}), ElementsAre("A=own=1", "AB=2", "PATH=/bin", "B=3"));
  EXPECT_EQ(common.path({"A=1"}), "/bin");
  EXPECT_EQ(common.path({"A=1", "PATH=/own"}), "/own");
}

TEST(CommonEnvironment, ThereIsAlwaysAPath) {
  EXPECT_THAT(of({"A=1"}).path({}), testing::HasSubstr("/usr/bin"));
  EXPECT_THAT(with(of({}), {}), ElementsAre(testing::StartsWith("PATH=/usr")));
  EXPECT_THAT(CommonEnvironment().path({}), testing::HasSubstr("/usr/bin"));
  EXPECT_TRUE(with(CommonEnvironment(), {}).empty());
}

}  // namespace
}  // namespace hodei::worker
