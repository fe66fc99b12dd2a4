#include "src/core/jobs/requeues.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/base/outcome.h"
#include "src/base/status.h"
#include "src/core/jobs/retry.h"

namespace hodei::core {

void Requeues::put_back(const JobHead& job, Requeue kind, const std::string& why, Turn& turn) {
  Draft draft(job);
  draft.head.requeue = kind;
  draft.past.cancel_reason = why;
  draft.past.reason = cat(why, "; waiting for the worker to stop it");
  const JobPtr stored = draft.finish();
  turn.write(PutJob{stored});
  moves_.end_execution(*stored, false, turn);
}

void Requeues::return_to_queue(Draft& draft, const Turn& turn) const {
  JobHead& head = draft.head;
  if (head.requeue == Requeue::Interrupted && count_interruption(draft, turn)) {
    return end_interrupted_too_often(draft, std::exchange(draft.past.cancel_reason, {}), turn);
  }
  // It did not use up an attempt: it was not let finish.
  if (head.state == JobState::Running) --head.attempts;
  Execution& e = draft.execution();
  e.reason = draft.past.cancel_reason;
  e.failure = text(head.requeue == Requeue::Evicted     ? Failure::Evicted
                   : head.requeue == Requeue::Preempted ? Failure::Preempted
                                                        : Failure::Interrupted);
  e.state = JobState::Pending;
  draft.move(JobEvent::Preempt, turn.wall(), std::exchange(draft.past.cancel_reason, {}));
  head.requeue = Requeue::No;
  head.worker = WorkerId();
}

bool Requeues::count_interruption(Draft& draft, const Turn& turn) const {
  JobHead& head = draft.head;
  Duration wait{0};
  bool counts = false;
  if (head.state == JobState::Running) {
    uint32_t& times = draft.past.interruptions;
    const WallTime since = draft.execution().scheduled;
    times = since.is_set() && turn.wall() - since >= kLongRun ? 1 : times + 1;
    wait = interruption_delay(times);
    counts = times > kUncountedInterruptions;
  } else if (++head.lost_dispatches > 1) {
    wait = dispatch_delay(head.lost_dispatches - 1);  // the next worker that stops is not to have it at once, too
  }
  if (wait > Duration(0)) head.not_before = turn.wall() + wait;
  return counts;
}

// Stopped again and again while they ran this job: the job itself may do it, and must not go on for ever.
void Requeues::end_interrupted_too_often(Draft& draft, const std::string& why, const Turn& turn) const {
  JobHead& head = draft.head;
  Execution& e = draft.execution();
  const std::string reason = cat(why, "; interrupted ", draft.past.interruptions,
                                 " times in a row, which counts as attempt ", head.attempts, " of ", head.max_attempts);
  e.reason = reason;
  e.failure = text(Failure::Interrupted);
  const bool again = may_retry(head);
  draft.move(again ? JobEvent::Lose : JobEvent::Fail, turn.wall(), reason);
  e.state = head.state;
  head.requeue = Requeue::No;
  if (again) {
    head.worker = WorkerId();
  } else {
    head.not_before = {};
    draft.past.failure = text(Failure::Interrupted);
  }
}

void Requeues::end_put_back(Draft& draft, const ResultReport& r, Turn& turn) {
  Execution& e = draft.execution();
  e.ended = std::max(when(r.ended, turn.now()), e.started);
  e.exit_code = r.exit_code;
  e.signal = r.signal;
  e.facts = r.facts;
  e.log_bytes = r.log_bytes;
  return_to_queue(draft, turn);
  moves_.store(draft, turn);
}

void Requeues::retry_if_allowed(Draft& draft, const std::string& reason, const Turn& turn) const {
  JobHead& head = draft.head;
  if (!may_retry(head)) return;
  const Duration wait = backoff_delay(head);
  head.lost_dispatches = 0;
  draft.past.interruptions = 0;
  draft.move(JobEvent::Retry, turn.wall(),
             cat("attempt ", head.attempts, " of ", head.max_attempts, " ended (", reason, "); next in ",
                 wait.count() / 1000, " ms"));
  head.not_before = turn.wall() + wait;
  head.worker = WorkerId();
}

// The job never started, so it never ends here.
void Requeues::send_again_later(Draft& draft, const std::string& why, const Turn& turn) const {
  JobHead& head = draft.head;
  std::vector<WorkerId>& refused_by = draft.past.refused_by;
  std::erase(refused_by, head.worker);
  if (refused_by.size() == kMaxRefusedBy) refused_by.erase(refused_by.begin());
  refused_by.push_back(head.worker);
  const Duration wait = dispatch_delay(++head.lost_dispatches);
  draft.move(JobEvent::Lose, turn.wall(),
             cat(why, "; the job had not started; it will be sent again in ", wait.count() / 1000, " ms"));
  head.not_before = turn.wall() + wait;
  head.worker = WorkerId();
}

void Requeues::lose(ExecutionId execution, const std::string& why, Turn& turn, const std::string& failure) {
  const LiveJob* live = jobs_.find(execution.job);
  HODEI_CHECK(live != nullptr && live->head->current() == execution);
  Draft draft(*live->head);
  JobHead& head = draft.head;
  Execution& e = draft.execution();
  e.ended = turn.wall();
  e.reason = why;
  e.failure = failure.empty() ? text(Failure::WorkerLost) : failure;
  turn.tell(ExecutionLost{execution});
  const bool timed_out = std::exchange(head.timeout_requested, false);
  const bool ran = head.state == JobState::Running;
  LiveWorker* worker = workers_.find(head.worker);
  const bool stopped = worker != nullptr && worker->record->stopped;
  bool refused = false;
  if (head.cancel_requested) {
    draft.move(JobEvent::Cancel, turn.wall(), cat("cancelled on request; its worker was lost: ", why));
  } else if (ran && timed_out) {
    // Its end was asked for and is now proven: that is the time-out, not a lost execution.
    draft.past.failure = text(Failure::WorkerLost);
    draft.move(JobEvent::TimeOut, turn.wall(), cat("ran longer than its timeout; then ", why));
  } else if (head.requeue != Requeue::No || stopped) {
    if (head.requeue == Requeue::No) {
      // It said that it stops: that is why nothing was heard of the execution any more.
      head.requeue = Requeue::Interrupted;
      draft.past.cancel_reason =
          cat(ran ? "interrupted: worker " : "not started: worker ", worker->id().str(), " was stopped (", why, ")");
    }
    return_to_queue(draft, turn);
  } else if (ran && !may_retry(head)) {
    draft.past.failure = text(Failure::WorkerLost);
    const std::string again = head.allow_retry
                                  ? cat("no attempts left (", head.attempts, " of ", head.max_attempts, ")")
                                  : "retries are not allowed";
    draft.move(JobEvent::Fail, turn.wall(), cat(why, "; ", again));
  } else if (!ran) {
    refused = true;
    send_again_later(draft, why, turn);
  } else {
    draft.past.interruptions = 0;
    draft.move(JobEvent::Lose, turn.wall(), why);
    head.worker = WorkerId();
  }
  e.state = head.state;
  head.requeue = Requeue::No;
  if (head.state == JobState::Timeout) retry_if_allowed(draft, why, turn);
  // Before its slot is filled again.
  if (refused && worker != nullptr && worker->connected) pauses_.note_refusal(*worker, turn);
  moves_.store(draft, turn);
}

void Requeues::hear_of_interruption(const WorkerId& worker, ExecutionId execution, Turn& turn) {
  const LiveJob* live = jobs_.find(execution.job);
  if (live == nullptr || live->head->current() != execution) return;
  Draft draft(*live->head);
  if (is_active(draft.head.state)) {
    if (draft.head.worker != worker || is_ending(draft.head)) return;
    // Its result follows, from a start that does not stop itself.
    const bool ran = draft.head.state == JobState::Running;
    draft.head.requeue = Requeue::Interrupted;
    draft.past.cancel_reason = cat(ran ? "interrupted: worker " : "not started: worker ", worker.str(), " was stopped");
    draft.past.reason = draft.past.cancel_reason;
  } else {
    // Its worker was silent for too long, so it was given up; now we know why, and that it was no attempt.
    Execution& e = draft.execution();
    const bool counted = draft.head.state == JobState::Pending && e.state == JobState::Pending && e.worker == worker &&
                         e.failure == word(Failure::WorkerLost) && e.started.is_set();
    if (!counted) return;
    --draft.head.attempts;
    if (live->where != LiveJob::Where::Delayed) draft.head.not_before = {};  // it is in a lane, and stays there
    e.failure = text(Failure::Interrupted);
    e.reason = cat("interrupted: worker ", worker.str(), " was stopped (", e.reason, ")");
  }
  turn.write(PutJob{draft.finish()});
}

}  // namespace hodei::core
