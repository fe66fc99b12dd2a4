// What every Runner promises, as tests. Each kind of runner brings a place in which it lives; see runner_test.cc.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "gtest/gtest.h"
#include "src/worker/protocol/execution_notes.h"
#include "src/worker/runners/runner.h"

namespace hodei::worker {

// A worker with one runner, whose agents come and go.
class RunnerPlace {
 public:
  virtual ~RunnerPlace() = default;
  virtual Runner& runner() = 0;  // of the agent that lives now
  virtual NotesByExecution& notes() = 0;
  virtual void next_agent() = 0;  // the one that lives now dies
  virtual void turn() = 0;        // the machine goes on a little
  virtual Now now() const = 0;
  virtual void advance(Duration by) = 0;
  // Of something that runs until it is told to exit.
  virtual Launch launch(ExecutionId execution) = 0;
  virtual void exit(ExecutionId execution, int code) = 0;
  // That it is connected to; nobody need answer there.
  virtual ServerAccess server() { return {nullptr, "session"}; }
};

struct RunnerKind {
  std::string name;
  std::function<std::unique_ptr<RunnerPlace>()> make;

  friend void PrintTo(const RunnerKind& kind, std::ostream* out) { *out << kind.name; }
};

class RunnerSuite : public testing::TestWithParam<RunnerKind> {
 protected:
  struct Seen {
    int starts = 0;
    int ends = 0;
    Exit exit;
  };

  void SetUp() override {
    place = GetParam().make();
    meet_agent();
    place->runner().extend_lease(place->now().mono + 60s);
  }
  // Waits until the runner has told what it holds.
  void meet_agent() {
    held.reset();
    ASSERT_TRUE(until([&] { return held.has_value(); }));
    place->runner().connected(place->server());
  }
  void next_agent() {
    place->next_agent();
    seen.clear();
    meet_agent();
  }
  void turn() {
    place->turn();
    Runner& runner = place->runner();
    runner.look(place->now());
    runner.tick(place->now());
    runner.flush();
    for (run::Event& event : runner.take_events()) {
      if (auto* ready = std::get_if<run::Ready>(&event)) {
        held.emplace();
        for (const run::HeldExecution& each : ready->held) (*held)[each.held.execution] = each.held;
      } else if (const auto* started = std::get_if<run::Started>(&event)) {
        EXPECT_EQ(seen[started->execution].ends, 0) << "started after its end";
        ++seen[started->execution].starts;
      } else if (auto* ended = std::get_if<run::Ended>(&event)) {
        Seen& each = seen[ended->exit.execution];
        ++each.ends;
        each.exit = ended->exit;
      }
    }
  }
  bool until(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (std::chrono::steady_clock::now() < deadline) {
      turn();
      if (condition()) return true;
    }
    return false;
  }
  void start(ExecutionId id) { place->runner().start(place->launch(id)); }
  bool runs(ExecutionId id) {
    return until([&] { return seen[id].starts == 1; });
  }
  bool ends(ExecutionId id) {
    return until([&] { return seen[id].ends == 1; });
  }
  // Whatever was said before has had its effect when another execution has come and gone.
  void all_is_said() {
    const ExecutionId other{JobId{1000 + ++others}, 1};
    start(other);
    ASSERT_TRUE(runs(other));
    place->exit(other, 0);
    ASSERT_TRUE(ends(other));
    place->runner().forget(other);
  }

  const ExecutionId a{JobId{1}, 1}, b{JobId{2}, 1};
  std::unique_ptr<RunnerPlace> place;
  std::optional<std::map<ExecutionId, Held>> held;  // as the agent that lives now was told
  std::map<ExecutionId, Seen> seen;
  uint64_t others = 0;
};

TEST_P(RunnerSuite, TellsTheStartOfAnExecutionThenItsEnd) {
  EXPECT_TRUE(held->empty());
  start(a);
  ASSERT_TRUE(runs(a));
  EXPECT_EQ(seen[a].ends, 0);
  place->exit(a, 7);
  ASSERT_TRUE(ends(a));
  EXPECT_EQ(seen[a].exit.exit_code, 7);
  EXPECT_EQ(seen[a].exit.outcome, Outcome::Failed);
  EXPECT_TRUE(seen[a].exit.started.is_set());
}

TEST_P(RunnerSuite, StartsAnExecutionOnceHoweverOftenItIsOrdered) {
  start(a);
  start(a);
  ASSERT_TRUE(runs(a));
  start(a);
  place->exit(a, 0);
  ASSERT_TRUE(ends(a));
  EXPECT_EQ(seen[a].exit.outcome, Outcome::Succeeded);
  start(a);  // its end is held: this is not a new execution
  all_is_said();
  EXPECT_EQ(seen[a].starts, 1);
  EXPECT_EQ(seen[a].ends, 1);
}

TEST_P(RunnerSuite, JudgesAnEndByItsReason) {
  const std::map<KillReason, Outcome> reasons = {{KillReason::Cancelled, Outcome::Cancelled},
                                                 {KillReason::TimedOut, Outcome::TimedOut},
                                                 {KillReason::LeaseExpired, Outcome::Lost},
                                                 {KillReason::Stopping, Outcome::Interrupted}};
  uint64_t job = 10;
  for (const auto& [why, outcome] : reasons) {
    const ExecutionId id{JobId{++job}, 1};
    start(id);
    ASSERT_TRUE(runs(id));
    place->runner().end(id, why, 100ms, place->now());
    ASSERT_TRUE(ends(id));
    EXPECT_EQ(seen[id].exit.outcome, outcome);
  }
}

TEST_P(RunnerSuite, LeavesTheEndOfAnExecutionAsItWas) {
  start(a);
  ASSERT_TRUE(runs(a));
  place->exit(a, 3);
  ASSERT_TRUE(ends(a));
  place->runner().end(a, KillReason::Cancelled, 100ms, place->now());
  all_is_said();
  EXPECT_EQ(seen[a].ends, 1);
  EXPECT_EQ(seen[a].exit.outcome, Outcome::Failed);
}

TEST_P(RunnerSuite, EndsWhatItWasToldToEndBeforeItRan) {
  start(a);
  place->runner().end(a, KillReason::Cancelled, 100ms, place->now());
  ASSERT_TRUE(ends(a));
  EXPECT_EQ(seen[a].exit.outcome, Outcome::Cancelled);
}

TEST_P(RunnerSuite, LetsNothingGoOnAfterTheLease) {
  start(a);
  ASSERT_TRUE(runs(a));
  place->advance(61s);
  ASSERT_TRUE(ends(a));
  EXPECT_EQ(seen[a].exit.outcome, Outcome::Lost);
}

TEST_P(RunnerSuite, BeginsNothingAfterTheLease) {
  place->advance(61s);
  turn();
  start(a);
  ASSERT_TRUE(ends(a));
  EXPECT_EQ(seen[a].exit.outcome, Outcome::Lost);
  EXPECT_EQ(seen[a].starts, 0);
}

TEST_P(RunnerSuite, TellsTheNextAgentWhatItHolds) {
  start(a);
  start(b);
  ASSERT_TRUE(runs(a));
  ASSERT_TRUE(runs(b));
  place->exit(b, 4);
  ASSERT_TRUE(ends(b));
  next_agent();
  ASSERT_EQ(held->size(), 2u);
  EXPECT_TRUE((*held)[a].started);
  EXPECT_FALSE((*held)[a].ended);
  EXPECT_TRUE((*held)[b].ended);
  EXPECT_EQ((*held)[b].exit.exit_code, 4);
  place->exit(a, 5);
  ASSERT_TRUE(ends(a));
  EXPECT_EQ(seen[a].exit.exit_code, 5);
  EXPECT_EQ(seen[a].starts, 0) << "told to the agent that saw it";
}

TEST_P(RunnerSuite, HoldsNothingThatItForgot) {
  start(a);
  ASSERT_TRUE(runs(a));
  place->exit(a, 1);
  ASSERT_TRUE(ends(a));
  place->runner().forget(a);
  all_is_said();
  next_agent();
  EXPECT_FALSE(held->contains(a));
}

TEST_P(RunnerSuite, KeepsNotesForTheNextAgent) {
  start(a);
  ASSERT_TRUE(runs(a));
  place->notes()[a].reported["version"] = "1.2";
  place->runner().keep_notes(a);
  all_is_said();
  next_agent();
  EXPECT_EQ(place->notes()[a].reported["version"], "1.2");
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RunnerSuite);

}  // namespace hodei::worker
