#include "src/core/jobs/endings.h"

#include <string>

#include "src/base/outcome.h"
#include "src/base/status.h"

namespace hodei::core {

Answer Endings::decide(const Cancel& c, Turn& turn) {
  const LiveJob* live = jobs_.find(c.job);
  if (live == nullptr) return absl::NotFoundError(cat("job ", short_id(c.job), " is neither waiting nor running"));
  const std::string reason = c.reason.empty() ? "cancelled on request" : cat("cancelled on request: ", c.reason);
  Draft draft(*live->head);
  if (draft.head.state == JobState::Pending) {
    draft.head.cancel_requested = true;
    draft.past.cancel_reason = c.reason;
    draft.move(JobEvent::Cancel, turn.wall(), reason);
    moves_.store(draft, turn);
    return CancelTaken{JobState::Cancelled};
  }
  if (draft.head.cancel_requested) return CancelTaken{draft.head.state};
  draft.head.cancel_requested = true;
  draft.past.cancel_reason = c.reason;
  draft.past.reason = "cancel requested; waiting for the worker to stop it";
  const JobPtr job = draft.finish();
  turn.write(PutJob{job});
  moves_.end_execution(*job, false, turn);
  return CancelTaken{job->state};
}

void Endings::due(const Timer& timer, Turn& turn) {
  const ExecutionId execution{JobId{timer.number}, timer.part};
  const LiveJob* live = jobs_.find(execution.job);
  if (live == nullptr || live->head->current() != execution || live->head->state != JobState::Running) return;
  if (is_ending(*live->head)) return;
  Draft draft(*live->head);
  draft.head.timeout_requested = true;
  draft.past.reason = "over its timeout; waiting for the worker to stop it";
  const JobPtr job = draft.finish();
  turn.write(PutJob{job});
  moves_.end_execution(*job, true, turn);
}

void Endings::fail(JobId id, Failure failure, const std::string& why, Turn& turn) {
  const LiveJob* live = jobs_.find(id);
  if (live == nullptr || live->where != LiveJob::Where::InLane) return;
  Draft draft(*live->head);
  draft.past.failure = text(failure);
  draft.move(JobEvent::Fail, turn.wall(), why);
  moves_.store(draft, turn);
}

}  // namespace hodei::core
