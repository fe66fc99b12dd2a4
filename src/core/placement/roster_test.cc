#include "src/core/placement/roster.h"

#include <set>

#include "gtest/gtest.h"

namespace hodei::core::roster_test {
namespace {

ShapePtr a_shape(int64_t memory_mb) {
  auto shape = std::make_shared<Shape>();
  shape->needs.memory_mb = memory_mb;
  shape->encoded = encode(*shape);
  return shape;
}

// Shapes come and go all day; their numbers name lanes and must never mean two things.
TEST(Roster, NumbersOfShapesGoOnBeyond32Bits) {
  const SchedulerConfig config;
  Roster roster(&config, uint64_t{UINT32_MAX} - 4);
  Lane* oldest = roster.lanes.at(Priority::Normal, Namespace("default"), a_shape(1));
  roster.lanes.enqueue(oldest, JobId{1});
  std::set<LaneKey> keys = {oldest->key()};
  for (int64_t i = 2; i < 12; ++i) {
    Lane* lane = roster.lanes.at(Priority::Normal, Namespace("default"), a_shape(i));
    roster.lanes.enqueue(lane, JobId{static_cast<uint64_t>(i)});
    EXPECT_GT(lane->key(), *keys.rbegin()) << "a later shape has a higher number";
    EXPECT_TRUE(keys.insert(lane->key()).second);
    EXPECT_EQ(roster.lanes.find(lane->key()), lane);
    EXPECT_EQ(roster.shapes.find(lane->shape->ordinal), lane->shape);
  }
  EXPECT_EQ(roster.lanes.size(), keys.size());
  EXPECT_GT(keys.rbegin()->shape, uint64_t{UINT32_MAX});
}

}  // namespace
}  // namespace hodei::core::roster_test
