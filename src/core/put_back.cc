// Executions that are ended although nobody wants their jobs' end: the job goes back into the queue. As with a cancel,
// the wish is stored first, and the job moves when its worker says that it is dead, or the lease proves it.
#include "src/base/status.h"
#include "src/core/engine.h"
#include "src/core/job/draft.h"
#include "src/core/job/retry.h"
#include "src/core/placement/rules/taints.h"

namespace hodei::core {

bool Engine::is_ending(const JobHead& job) {
  return job.cancel_requested || job.timeout_requested || job.requeue != Requeue::No;
}

void Engine::put_back(const JobHead& job, Requeue kind, const std::string& why, Turn& turn) {
  Draft draft(job);
  draft.head.requeue = kind;
  draft.past.cancel_reason = why;
  draft.past.reason = cat(why, "; waiting for the worker to stop it");
  const JobPtr stored = draft.finish();
  write(PutJob{stored}, turn);
  if (const LiveWorker* worker = state_.worker(stored->worker); worker != nullptr && worker->connected) {
    turn.effects.push_back(CancelExecution{stored->worker, worker->stream, stored->current(), false, stored->grace});
  }
}

void Engine::return_to_queue(Draft& draft, Now now) {
  JobHead& head = draft.head;
  if (head.requeue == Requeue::Interrupted && count_interruption(draft, now)) {
    return end_interrupted_too_often(draft, std::exchange(draft.past.cancel_reason, {}), now);
  }
  // It did not use up an attempt: it was not let finish.
  if (head.state == JobState::Running) --head.attempts;
  Execution& e = draft.execution();
  e.reason = draft.past.cancel_reason;
  e.failure = head.requeue == Requeue::Evicted     ? "evicted"
              : head.requeue == Requeue::Preempted ? "preempted"
                                                   : "interrupted";
  e.state = JobState::Pending;
  draft.move(JobEvent::Preempt, now.wall, std::exchange(draft.past.cancel_reason, {}));
  head.requeue = Requeue::No;
  head.worker = WorkerId();
}

bool Engine::count_interruption(Draft& draft, Now now) {
  JobHead& head = draft.head;
  Duration wait{0};
  bool counts = false;
  if (head.state == JobState::Running) {
    uint32_t& times = draft.past.interruptions;
    const WallTime since = draft.execution().scheduled;
    times = since.is_set() && now.wall - since >= kLongRun ? 1 : times + 1;
    wait = interruption_delay(times);
    counts = times > kUncountedInterruptions;
  } else if (++head.lost_dispatches > 1) {
    wait = dispatch_delay(head.lost_dispatches - 1);  // the next worker that stops is not to have it at once, too
  }
  if (wait > Duration(0)) head.not_before = now.wall + wait;
  return counts;
}

// Stopped again and again while they ran this job: the job itself may do it, and must not go on for ever.
void Engine::end_interrupted_too_often(Draft& draft, const std::string& why, Now now) {
  JobHead& head = draft.head;
  Execution& e = draft.execution();
  const std::string words = cat(why, "; interrupted ", draft.past.interruptions,
                                " times in a row, which counts as attempt ", head.attempts, " of ", head.max_attempts);
  e.reason = words;
  e.failure = "interrupted";
  const bool again = may_retry(head);
  draft.move(again ? JobEvent::Lose : JobEvent::Fail, now.wall, words);
  e.state = head.state;
  head.requeue = Requeue::No;
  if (again) {
    head.worker = WorkerId();
  } else {
    head.not_before = {};
    draft.past.failure = "interrupted";
  }
}

void Engine::end_put_back(Draft& draft, const ResultReport& r, Now now, Turn& turn) {
  Execution& e = draft.execution();
  e.ended = std::max(when(r.ended, now), e.started);
  e.exit_code = r.exit_code;
  e.signal = r.signal;
  e.facts = r.facts;
  e.log_bytes = r.log_bytes;
  return_to_queue(draft, now);
  store(draft, now, turn);
}

void Engine::evict(LiveWorker& worker, Turn& turn) {
  const std::vector<ExecutionId> executions(worker.executions.begin(), worker.executions.end());
  for (const ExecutionId& execution : executions) {
    const JobHead& job = *state_.job(execution.job)->head;
    if (is_ending(job)) continue;
    for (const Taint& taint : worker.record->info.taints) {
      if (taint.effect != TaintEffect::NoExecute || tolerates(*job.shape, taint)) continue;
      put_back(job, Requeue::Evicted,
               cat("evicted from worker ", worker.id().str(), ", which has the taint ", taint.key, "=", taint.value,
                   ":NoExecute"),
               turn);
      break;
    }
  }
}

void Engine::interrupt_all(const LiveWorker& worker, const std::string& why, Turn& turn) {
  const std::vector<ExecutionId> executions(worker.executions.begin(), worker.executions.end());
  for (const ExecutionId& execution : executions) {
    const JobHead& job = *state_.job(execution.job)->head;
    if (is_ending(job)) continue;
    put_back(job, Requeue::Interrupted, cat("interrupted: worker ", worker.id().str(), " is being removed: ", why),
             turn);
  }
}

Engine::Answer Engine::on(const TaintWorker& c, Now now, Turn& turn) {
  LiveWorker* worker = state_.worker(c.worker);
  if (worker == nullptr || worker->state == WorkerState::Terminated) {
    return absl::NotFoundError(cat("worker ", c.worker.str(), " is not registered; see `hodei worker list`"));
  }
  if (c.taints.size() > kMaxTaints)
    return bad_field("taints", "must have at most ", kMaxTaints, " entries, not ", c.taints.size());
  for (const Taint& taint : c.taints) {
    if (taint.key.empty()) return bad_field("taints.key", "must not be empty; write key=value:NoSchedule");
  }
  auto record = std::make_shared<WorkerRecord>(*worker->record);
  record->info.taints = c.taints;
  record->info.taints_set = true;
  RETURN_IF_ERROR(validate(record->info));
  if (*record != *worker->record) {
    write(PutWorker{record}, turn);
    std::string all;
    for (const Taint& t : c.taints) all += cat(all.empty() ? "" : ", ", t.key, "=", t.value, ":", name(t.effect));
    record_act(c.principal, {"worker.tainted", c.worker.str(), all.empty() ? "no taints" : all}, now, turn);
  }
  evict(*worker, turn);
  check_reservations(now, true);
  fill(*worker, now, turn);
  return answer(DescribeWorkers{c.worker.str(), true}, now);
}

}  // namespace hodei::core
