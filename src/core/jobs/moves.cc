#include "src/core/jobs/moves.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/core/jobs/retry.h"

namespace hodei::core {
namespace {

Timer backoff_timer(JobId job) { return {TimerKind::Backoff, number(job)}; }

// Volatile: the worker enforces timeouts first, on its own clock. After a restart they start again from zero, because
// the wall clock may have been changed: a late timeout is harmless, an early one would end a healthy job.
Timer timeout_timer(ExecutionId execution) { return {TimerKind::Timeout, number(execution.job), execution.number}; }

}  // namespace

void Moves::resume(Turn& turn) {
  for (const auto& [not_before, job] : placement_.queue.delayed()) await_backoff(*jobs_.find(job)->head, turn);
  for (const auto& [id, live] : jobs_.all()) {
    if (live.head->state == JobState::Running) await_timeout(*live.head, turn);
  }
}

void Moves::await_backoff(const JobHead& job, Turn& turn) const {
  // A wall clock that was set since then must not make anybody wait longer than the longest back-off.
  const Duration longest = job.lost_dispatches > 0 ? Duration(kLongestDispatchDelay) : job.backoff.max;
  const Duration left = std::clamp(job.not_before - turn.wall(), Duration(0), longest);
  turn.wake_at(turn.mono() + left, backoff_timer(job.id));
}

void Moves::await_timeout(const JobHead& job, Turn& turn) const {
  if (job.timeout > Duration(0)) turn.wake_at(turn.mono() + job.timeout, timeout_timer(job.current()));
}

void Moves::due(const Timer& timer, Turn& turn) {
  LiveJob* live = jobs_.find(JobId{timer.number});
  if (live == nullptr || live->where != LiveJob::Where::Delayed) return;
  placement_.queue.queue(*live);
  placement_.placer.place_job(JobId{timer.number}, turn);
}

void Moves::store(Draft& draft, Turn& turn) {
  const size_t first = draft.first_new();
  const JobPtr job = draft.finish();
  const LiveJob* before = jobs_.find(job->id);
  const bool had_slot = before != nullptr && is_active(before->head->state);
  const WorkerId old_worker = had_slot ? before->head->worker : WorkerId();
  if (before != nullptr && before->head->state == JobState::Running && job->state != JobState::Running) {
    turn.cancel(timeout_timer(before->head->current()));
  }
  if (before != nullptr && before->where == LiveJob::Where::Delayed) turn.cancel(backoff_timer(job->id));
  if (is_terminal(job->state)) {
    turn.write(FinishJob{job});
    if (!job->concurrency_key.empty() && !placement_.usage.key_in_use(*job)) {
      turn.write(Erase<KeyLimitRow>{{job->ns.str(), job->concurrency_key}});
    }
  } else {
    turn.write(PutJob{job});
    if (job->not_before.is_set()) await_backoff(*job, turn);
  }
  turn.tell(JobMoved{job, first});
  if (!is_active(job->state)) use_room(*job, old_worker, turn);
  if (!is_terminal(job->state) || !job->owner.is_set()) return;
  const auto owner = ports_.owners.find(job->owner.module);
  if (owner != ports_.owners.end()) owner->second->job_ended(job->owner, *job, turn);
}

// Woken jobs are only put into their lanes at first: the freed worker takes the most urgent of all that wait.
void Moves::use_room(const JobHead& job, const WorkerId& freed, Turn& turn) {
  std::vector<JobId> woken;
  if (!job.concurrency_key.empty()) woken = placement_.limits.wake(job.ns.str(), job.concurrency_key, turn);
  if (job.state == JobState::Pending) woken.push_back(job.id);
  LiveWorker* worker = freed.empty() ? nullptr : fleet_.workers.find(freed);
  if (worker != nullptr) {
    fleet_.departures.leave_if_drained(*worker, turn);
    ports_.suppliers->retire_if_used(*worker, turn);
    placement_.placer.fill(*worker, turn);
  }
  placement_.placer.place_woken(std::move(woken), turn);
  const Tenant* tenant = freed.empty() ? nullptr : placement_.roster.tenants.find(job.ns);
  if (tenant != nullptr && tenant->has_quota()) placement_.quotas.wake(job.ns, turn);
}

void Moves::note(JobId job, std::string reason, Turn& turn) {
  const LiveJob* live = jobs_.find(job);
  if (live == nullptr || live->where != LiveJob::Where::InLane) return;
  Draft draft(*live->head);
  draft.head.not_before = {};  // its back-off is over, or it would not be in a lane
  draft.past.reason = std::move(reason);
  turn.write(PutJob{draft.finish()});
}

void Moves::end_execution(const JobHead& job, bool timed_out, Turn& turn) const {
  const LiveWorker* worker = fleet_.workers.find(job.worker);
  if (worker == nullptr || !worker->connected) return;
  turn.tell(CancelExecution{job.worker, worker->stream, job.current(), timed_out, job.grace});
}

const JobHead* current(const JobTable& jobs, const WorkerId& worker, ExecutionId execution) {
  const LiveJob* live = jobs.find(execution.job);
  if (live == nullptr || !is_active(live->head->state)) return nullptr;
  if (live->head->executions != execution.number || live->head->worker != worker) return nullptr;
  return live->head.get();
}

}  // namespace hodei::core
