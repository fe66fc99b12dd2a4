// The state table of a job (docs/semantics.md#job-states). A transition that is not in it is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hodei::core {

enum class JobState : uint8_t { Pending = 1, Scheduled, Running, Succeeded, Failed, Cancelled, Timeout };

enum class JobEvent : uint8_t { Assign = 1, Start, Succeed, Fail, Cancel, TimeOut, Lose, Preempt, Retry };

struct JobEdge {
  JobState from;
  JobEvent on;
  JobState to;
};

inline constexpr JobEdge kJobEdges[] = {
    {JobState::Pending, JobEvent::Assign, JobState::Scheduled},
    {JobState::Pending, JobEvent::Cancel, JobState::Cancelled},
    {JobState::Pending, JobEvent::Fail, JobState::Failed},
    {JobState::Scheduled, JobEvent::Start, JobState::Running},
    {JobState::Scheduled, JobEvent::Cancel, JobState::Cancelled},
    {JobState::Scheduled, JobEvent::Fail, JobState::Failed},
    {JobState::Scheduled, JobEvent::Lose, JobState::Pending},
    {JobState::Scheduled, JobEvent::Preempt, JobState::Pending},
    {JobState::Running, JobEvent::Succeed, JobState::Succeeded},
    {JobState::Running, JobEvent::Fail, JobState::Failed},
    {JobState::Running, JobEvent::Cancel, JobState::Cancelled},
    {JobState::Running, JobEvent::TimeOut, JobState::Timeout},
    {JobState::Running, JobEvent::Lose, JobState::Pending},
    {JobState::Running, JobEvent::Preempt, JobState::Pending},
    // Only in the same decision as the transition before it, so that nobody sees Failed or Timeout as a final state.
    {JobState::Failed, JobEvent::Retry, JobState::Pending},
    {JobState::Timeout, JobEvent::Retry, JobState::Pending},
};

constexpr std::optional<JobState> next(JobState from, JobEvent on) {
  for (const JobEdge& edge : kJobEdges) {
    if (edge.from == from && edge.on == on) return edge.to;
  }
  return std::nullopt;
}

constexpr bool is_terminal(JobState s) {
  return s == JobState::Succeeded || s == JobState::Failed || s == JobState::Cancelled || s == JobState::Timeout;
}

constexpr bool is_active(JobState s) { return s == JobState::Scheduled || s == JobState::Running; }

constexpr std::string_view name(JobState s) {
  switch (s) {
    case JobState::Pending: return "Pending";
    case JobState::Scheduled: return "Scheduled";
    case JobState::Running: return "Running";
    case JobState::Succeeded: return "Succeeded";
    case JobState::Failed: return "Failed";
    case JobState::Cancelled: return "Cancelled";
    case JobState::Timeout: return "Timeout";
  }
  return "?";
}

static_assert(!next(JobState::Succeeded, JobEvent::Start));
static_assert(!next(JobState::Pending, JobEvent::Start), "a job starts only where it was sent");
static_assert(next(JobState::Running, JobEvent::Lose) == JobState::Pending);

}  // namespace hodei::core
