#include "src/worker/supervisor/state_folder.h"

#include <cstdlib>
#include <filesystem>

#include "gtest/gtest.h"

namespace hodei::worker {
namespace {

namespace fs = std::filesystem;

class StateFolderTest : public testing::Test {
 protected:
  StateFolderTest() {
    char name[] = "/tmp/hodei-state-XXXXXX";
    root_ = mkdtemp(name);
  }
  ~StateFolderTest() override { fs::remove_all(root_); }
  std::string path(const char* name) const { return root_ + "/" + name; }

  std::string root_;
};

struct Seen {
  std::string incarnation, lineage, mark;
  uint64_t generation = 0;
};

Seen start(const std::string& path) {
  const StateFolder state = StateFolder::open(path).value();
  return {state.incarnation(), state.lineage(), state.mark(), state.generation()};
}

TEST_F(StateFolderTest, CountsTheStartsOfOneLineage) {
  const Seen first = start(path("a"));
  const Seen second = start(path("a"));
  EXPECT_FALSE(first.lineage.empty());
  EXPECT_EQ(second.lineage, first.lineage);
  EXPECT_GT(second.generation, first.generation);
  EXPECT_EQ(second.mark, first.mark) << "what the first left is found by it";
  EXPECT_NE(second.incarnation, first.incarnation);
}

TEST_F(StateFolderTest, ASessionBelongsToOneWorkerId) {
  StateFolder state = StateFolder::open(path("a")).value();
  ASSERT_EQ(state.settle_worker_id("first").value(), "first");
  ASSERT_TRUE(state.store_session("session-1").ok());
  ASSERT_EQ(state.settle_worker_id("").value(), "first");
  EXPECT_EQ(state.session(), "session-1");
  ASSERT_EQ(state.settle_worker_id("second").value(), "second");
  EXPECT_EQ(state.session(), "");
}

TEST_F(StateFolderTest, ACopyIsAnotherLineageAndKillsNothingOfTheOriginal) {
  const Seen original = start(path("a"));
  fs::copy(path("a"), path("b"), fs::copy_options::recursive);
  const Seen copy = start(path("b"));
  EXPECT_NE(copy.lineage, original.lineage);
  EXPECT_NE(copy.mark, original.mark);
  EXPECT_EQ(start(path("b")).lineage, copy.lineage) << "from then on it is one of its own";
  EXPECT_EQ(start(path("a")).lineage, original.lineage);
}

TEST_F(StateFolderTest, AFolderOfAnEarlierVersionKeepsItsMark) {
  const Seen before = start(path("a"));
  fs::remove(path("a") + "/lineage");
  EXPECT_EQ(start(path("a")).mark, before.mark);
}

TEST_F(StateFolderTest, ALineageThatCannotVouchForTheEarlierOnesIsANewOneForAllThatFollow) {
  const Seen before = start(path("a"));
  std::string anew;
  {
    StateFolder state = StateFolder::open(path("a")).value();
    ASSERT_TRUE(state.begin_lineage().ok());
    anew = state.lineage();
    EXPECT_EQ(state.mark(), before.mark);
  }
  EXPECT_NE(anew, before.lineage);
  EXPECT_EQ(start(path("a")).lineage, anew);
  EXPECT_EQ(start(path("a")).mark, before.mark);
}

TEST_F(StateFolderTest, TheLineageOfAnotherBootIsNotContinued) {
  const Seen before = start(path("a"));
  const std::string file = path("a") + "/lineage";
  std::FILE* out = std::fopen(file.c_str(), "w");
  std::fputs((before.lineage + " another-boot/4:1/5:6 7").c_str(), out);
  std::fclose(out);
  EXPECT_NE(start(path("a")).lineage, before.lineage);
}

}  // namespace
}  // namespace hodei::worker
