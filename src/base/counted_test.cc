#include "src/base/counted.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace hodei::counted_test {
namespace {

TEST(Counted, OneIsSingularAndEverythingElsePlural) {
  EXPECT_EQ(counted(0, "job"), "0 jobs");
  EXPECT_EQ(counted(1, "job"), "1 job");
  EXPECT_EQ(counted(2, "job"), "2 jobs");
  EXPECT_EQ(counted(uint64_t{1}, "worker"), "1 worker");
  EXPECT_EQ(counted(int64_t{1000}, "waiting job"), "1000 waiting jobs");
}

TEST(Counted, PluralsFollowTheEndOfTheNoun) {
  EXPECT_EQ(plural("process"), "processes");
  EXPECT_EQ(plural("batch"), "batches");
  EXPECT_EQ(plural("entry"), "entries");
  EXPECT_EQ(plural("key"), "keys");
  EXPECT_EQ(plural("execution"), "executions");
}

}  // namespace
}  // namespace hodei::counted_test
