#include "src/server/gathering.h"

#include "gtest/gtest.h"

namespace hodei::server::gathering_test {
namespace {

constexpr MonoTime kStart{1'000'000};

MonoTime turn_often(Gathering& gathering, int turns, size_t commands, MonoTime at = kStart) {
  for (int i = 0; i < turns; ++i, at = at + 100us) gathering.turned(at, commands);
  return at;
}

TEST(Gathering, ALoneClientNeverWaits) {
  Gathering gathering;
  const MonoTime now = turn_often(gathering, 1000, 1);
  EXPECT_EQ(gathering.wait(now), 0us);
}

TEST(Gathering, TurnsWithManyCommandsComeApart) {
  Gathering gathering;
  const MonoTime now = turn_often(gathering, 50, 20);
  EXPECT_EQ(gathering.wait(now), Gathering::kApart - 100us);
  EXPECT_EQ(gathering.wait(now + 300us), Gathering::kApart - 400us);
  EXPECT_EQ(gathering.wait(now + Gathering::kApart), 0us) << "the last turn is long ago";
}

TEST(Gathering, OneLargeTurnChangesNothing) {
  Gathering gathering;
  gathering.turned(kStart, 60);
  EXPECT_EQ(gathering.wait(kStart), 0us);
}

TEST(Gathering, AfterTheRushALoneClientSoonWaitsNoMore) {
  Gathering gathering;
  MonoTime now = turn_often(gathering, 50, 50);
  EXPECT_GT(gathering.wait(now), 0us);
  now = turn_often(gathering, 20, 1, now);
  EXPECT_EQ(gathering.wait(now), 0us);
}

}  // namespace
}  // namespace hodei::server::gathering_test
