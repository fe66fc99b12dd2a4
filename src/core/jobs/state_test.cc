// The table of docs/semantics.md#job-states, written out a second time: every pair that is not here must be refused.
#include "src/core/jobs/state.h"

#include <map>

#include "gtest/gtest.h"

namespace hodei::core::job_state_test {
namespace {

constexpr JobState kStates[] = {JobState::Pending, JobState::Scheduled, JobState::Running, JobState::Succeeded,
                                JobState::Failed,  JobState::Cancelled, JobState::Timeout};
constexpr JobEvent kEvents[] = {JobEvent::Assign,  JobEvent::Start, JobEvent::Succeed, JobEvent::Fail, JobEvent::Cancel,
                                JobEvent::TimeOut, JobEvent::Lose,  JobEvent::Preempt, JobEvent::Retry};

using Table = std::map<std::pair<JobState, JobEvent>, JobState>;

const Table& allowed() {
  static const Table table = {
      {{JobState::Pending, JobEvent::Assign}, JobState::Scheduled},
      {{JobState::Pending, JobEvent::Cancel}, JobState::Cancelled},
      {{JobState::Pending, JobEvent::Fail}, JobState::Failed},
      {{JobState::Scheduled, JobEvent::Start}, JobState::Running},
      {{JobState::Scheduled, JobEvent::Cancel}, JobState::Cancelled},
      {{JobState::Scheduled, JobEvent::Fail}, JobState::Failed},
      {{JobState::Scheduled, JobEvent::Lose}, JobState::Pending},
      {{JobState::Scheduled, JobEvent::Preempt}, JobState::Pending},
      {{JobState::Running, JobEvent::Succeed}, JobState::Succeeded},
      {{JobState::Running, JobEvent::Fail}, JobState::Failed},
      {{JobState::Running, JobEvent::Cancel}, JobState::Cancelled},
      {{JobState::Running, JobEvent::TimeOut}, JobState::Timeout},
      {{JobState::Running, JobEvent::Lose}, JobState::Pending},
      {{JobState::Running, JobEvent::Preempt}, JobState::Pending},
      {{JobState::Failed, JobEvent::Retry}, JobState::Pending},
      {{JobState::Timeout, JobEvent::Retry}, JobState::Pending},
  };
  return table;
}

TEST(JobStates, AllowExactlyTheTransitionsOfTheSpecification) {
  for (const JobState from : kStates) {
    for (const JobEvent on : kEvents) {
      const auto it = allowed().find({from, on});
      const std::optional<JobState> expected = it == allowed().end() ? std::nullopt : std::optional(it->second);
      EXPECT_EQ(next(from, on), expected) << name(from) << " on event " << static_cast<int>(on);
    }
  }
}

TEST(JobStates, HaveNoWayOutOfSucceededAndCancelled) {
  for (const JobEvent on : kEvents) {
    EXPECT_FALSE(next(JobState::Succeeded, on));
    EXPECT_FALSE(next(JobState::Cancelled, on));
  }
}

TEST(JobStates, AreEachWaitingActiveOrFinal) {
  for (const JobState s : kStates) {
    EXPECT_EQ((s == JobState::Pending) + is_active(s) + is_terminal(s), 1) << name(s);
  }
}

}  // namespace
}  // namespace hodei::core::job_state_test
