#include "src/providers/custom/worker_rolls.h"

#include "gtest/gtest.h"

namespace hodei::providers::worker_rolls_test {
namespace {

OwnedWorker worker(const std::string& worker_id, const std::string& id) {
  return {.handle = {.worker_id = worker_id, .id = id}, .status = {.phase = WorkerPhase::Running}};
}

TEST(WorkerRolls, CountWhatIsBeingMade) {
  WorkerRolls rolls;
  EXPECT_TRUE(rolls.take_room("w1", 2));
  EXPECT_TRUE(rolls.take_room("w2", 2));
  EXPECT_FALSE(rolls.take_room("w3", 2));
  EXPECT_TRUE(rolls.take_room("w1", 2));  // has its room already
  rolls.destroyed("w1");
  EXPECT_TRUE(rolls.take_room("w3", 2));
}

TEST(WorkerRolls, LearnFromAListWhatIsThereAndWhatIsNot) {
  WorkerRolls rolls;
  EXPECT_FALSE(rolls.was_listed());
  rolls.take_room("never-answered", 0);
  rolls.take_room("failed", 0);
  rolls.listed(rolls.before_list(), {worker("old", "1"), worker("never-answered", "2")});
  EXPECT_TRUE(rolls.was_listed());
  EXPECT_EQ(rolls.find("old"), "1");
  EXPECT_EQ(rolls.find("never-answered"), "2");
  EXPECT_EQ(rolls.find("failed"), std::nullopt);
}

TEST(WorkerRolls, KnowBetterThanAListThatWasMadeBefore) {
  WorkerRolls rolls;
  rolls.made("destroyed", "1");
  const uint64_t before = rolls.before_list();
  rolls.made("made", "2");
  rolls.destroyed("destroyed");
  rolls.listed(before, {worker("destroyed", "1")});
  EXPECT_EQ(rolls.find("made"), "2");
  EXPECT_EQ(rolls.find("destroyed"), std::nullopt);
  rolls.listed(rolls.before_list(), {});
  EXPECT_EQ(rolls.find("made"), std::nullopt);
}

TEST(WorkerRolls, KeepWhatSomebodyIsAboutToMake) {
  WorkerRolls rolls;
  const WorkerRolls::Turn turn(rolls, "w1");
  rolls.take_room("w1", 1);
  rolls.listed(rolls.before_list(), {});
  EXPECT_TRUE(rolls.find("w1").has_value());
}

}  // namespace
}  // namespace hodei::providers::worker_rolls_test
