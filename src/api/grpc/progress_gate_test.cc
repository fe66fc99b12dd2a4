#include "src/api/grpc/progress_gate.h"

#include "gtest/gtest.h"

namespace hodei::api::progress_gate_test {
namespace {

ExecutionId execution(uint64_t n) { return {JobId{n}, 1}; }

TEST(ProgressGate, PassesTheNewestWordOfEachExecution) {
  ProgressGate gate;
  const auto passed =
      gate.pass({{execution(1), 1, "old"}, {execution(2), 5, "x"}, {execution(1), 2, "new"}}, MonoTime{0} + 1s);
  ASSERT_EQ(passed.size(), 2u);
  EXPECT_EQ(passed[0].message, "new");
  EXPECT_FALSE(gate.has_waiting());
}

TEST(ProgressGate, LetsSoManyThroughInASecondAndKeepsTheNewestOfTheRest) {
  ProgressGate gate;
  MonoTime now = MonoTime{0} + 10s;
  size_t passed = 0;
  std::vector<core::ProgressReport> many;
  for (uint64_t n = 1; n <= ProgressGate::kMostPerSecond + 2; ++n) many.push_back({execution(n), 1, "first"});
  passed += gate.pass(many, now).size();
  EXPECT_EQ(passed, ProgressGate::kMostPerSecond);
  for (core::ProgressReport& each : many) each.message = "second";
  EXPECT_TRUE(gate.pass(many, now + 999ms).empty());
  EXPECT_EQ(gate.take(execution(5))->message, "second") << "with the end of its execution it goes on at once";
  EXPECT_FALSE(gate.take(execution(5)).has_value());
  const auto later = gate.pass({}, now + 1s);
  EXPECT_EQ(later.size(), ProgressGate::kMostPerSecond);
  // Those that had not been let through before go first.
  EXPECT_EQ(later[0].execution, execution(ProgressGate::kMostPerSecond + 1));
  EXPECT_TRUE(gate.has_waiting());
}

}  // namespace
}  // namespace hodei::api::progress_gate_test
