// The table of docs/semantics.md#worker-states, written out a second time: every pair that is not here must be refused.
#include "src/core/fleet/state.h"

#include <map>

#include "gtest/gtest.h"

namespace hodei::core::worker_state_test {
namespace {

constexpr WorkerState kStates[] = {WorkerState::Creating,  WorkerState::Connecting, WorkerState::Ready,
                                   WorkerState::Busy,      WorkerState::Draining,   WorkerState::Terminating,
                                   WorkerState::Terminated};
constexpr WorkerEvent kEvents[] = {WorkerEvent::Appear, WorkerEvent::Open,   WorkerEvent::Occupy,
                                   WorkerEvent::Empty,  WorkerEvent::Drain,  WorkerEvent::Undrain,
                                   WorkerEvent::Leave,  WorkerEvent::Expire, WorkerEvent::Gone};

using Table = std::map<std::pair<WorkerState, WorkerEvent>, WorkerState>;

const Table& allowed() {
  static const Table table = {
      {{WorkerState::Creating, WorkerEvent::Appear}, WorkerState::Connecting},
      {{WorkerState::Creating, WorkerEvent::Expire}, WorkerState::Terminating},
      {{WorkerState::Connecting, WorkerEvent::Open}, WorkerState::Ready},
      {{WorkerState::Connecting, WorkerEvent::Drain}, WorkerState::Draining},
      {{WorkerState::Connecting, WorkerEvent::Leave}, WorkerState::Terminating},
      {{WorkerState::Connecting, WorkerEvent::Expire}, WorkerState::Terminating},
      {{WorkerState::Ready, WorkerEvent::Occupy}, WorkerState::Busy},
      {{WorkerState::Ready, WorkerEvent::Drain}, WorkerState::Draining},
      {{WorkerState::Ready, WorkerEvent::Leave}, WorkerState::Terminating},
      {{WorkerState::Busy, WorkerEvent::Empty}, WorkerState::Ready},
      {{WorkerState::Busy, WorkerEvent::Drain}, WorkerState::Draining},
      {{WorkerState::Busy, WorkerEvent::Leave}, WorkerState::Terminating},
      {{WorkerState::Draining, WorkerEvent::Undrain}, WorkerState::Ready},
      {{WorkerState::Draining, WorkerEvent::Leave}, WorkerState::Terminating},
  };
  return table;
}

TEST(WorkerStates, AllowExactlyTheTransitionsOfTheSpecification) {
  for (const WorkerState from : kStates) {
    for (const WorkerEvent on : kEvents) {
      if (on == WorkerEvent::Gone) continue;
      const auto it = allowed().find({from, on});
      const std::optional<WorkerState> expected = it == allowed().end() ? std::nullopt : std::optional(it->second);
      EXPECT_EQ(next(from, on), expected) << name(from) << " on event " << static_cast<int>(on);
    }
  }
}

TEST(WorkerStates, AreTerminatedFromAnywhereWhenTheWorkerIsGone) {
  for (const WorkerState from : kStates) {
    if (from == WorkerState::Terminated) continue;
    EXPECT_EQ(next(from, WorkerEvent::Gone), WorkerState::Terminated) << name(from);
  }
  EXPECT_FALSE(next(WorkerState::Terminated, WorkerEvent::Gone));
}

TEST(WorkerStates, TakeWorkOnlyWhenReadyOrBusy) {
  for (const WorkerState s : kStates) {
    EXPECT_EQ(takes_work(s), s == WorkerState::Ready || s == WorkerState::Busy) << name(s);
  }
}

}  // namespace
}  // namespace hodei::core::worker_state_test
