#include "src/worker/supervisor/inherited_environment.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hodei::worker::inherited_environment_test {
namespace {

using testing::ElementsAre;

std::vector<std::string> with(const InheritedEnvironment& inherited, std::vector<std::string> own) {
  std::vector<std::string> out;
  for (const char* pair : inherited.with(own)) {
    if (pair != nullptr) out.emplace_back(pair);
  }
  return out;
}

InheritedEnvironment of(std::vector<std::string> pairs) {
  std::vector<char*> pointers;
  for (std::string& pair : pairs) pointers.push_back(pair.data());
  pointers.push_back(nullptr);
  return InheritedEnvironment(pointers.data());
}

TEST(InheritedEnvironment, PassesOnWhatIsNotForTheWorkerAlone) {
  EXPECT_THAT(
      with(of({"HOME=/root", "HODEI_TOKEN=secret", "DATABASE_URL=postgres://u:p@h", "PATH=/bin", "=odd", "odd", "A="}),
           {}),
      ElementsAre("A=", "HOME=/root", "PATH=/bin"));
}

TEST(InheritedEnvironment, OfTheSameNameTwiceTheFirstCounts) {
  EXPECT_THAT(with(of({"A=1", "PATH=/bin", "A=2"}), {}), ElementsAre("A=1", "PATH=/bin"));
}

TEST(InheritedEnvironment, AJobsOwnPairsWin) {
  const InheritedEnvironment inherited = of({"A=1", "AB=2", "PATH=/bin"});
  EXPECT_THAT(with(inherited, {"A=own=1", "B=3"}), ElementsAre("A=own=1", "AB=2", "PATH=/bin", "B=3"));
  EXPECT_EQ(inherited.path({"A=1"}), "/bin");
  EXPECT_EQ(inherited.path({"A=1", "PATH=/own"}), "/own");
}

TEST(InheritedEnvironment, ThereIsAlwaysAPath) {
  EXPECT_THAT(of({"A=1"}).path({}), testing::HasSubstr("/usr/bin"));
  EXPECT_THAT(with(of({}), {}), ElementsAre(testing::StartsWith("PATH=/usr")));
  EXPECT_THAT(InheritedEnvironment().path({}), testing::HasSubstr("/usr/bin"));
  EXPECT_TRUE(with(InheritedEnvironment(), {}).empty());
}

}  // namespace
}  // namespace hodei::worker::inherited_environment_test
