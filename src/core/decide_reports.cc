// What workers say about executions. A report about any execution but the current one changes nothing.
#include "src/base/clip.h"
#include "src/base/finite.h"
#include "src/base/status.h"
#include "src/core/engine.h"
#include "src/core/job/draft.h"
#include "src/core/job/retry.h"

namespace hodei::core {
namespace {

constexpr double kHistoryDecay = 0.9;  // weight of the past against one more execution
constexpr size_t kMaxMessage = 4096;

std::string clipped(const std::string& text) { return std::string(clip(text, kMaxMessage)); }

std::string words(const ResultReport& r) {
  if (!r.message.empty()) return clipped(r.message);
  switch (r.outcome) {
    case Outcome::Succeeded: return "exited with 0";
    case Outcome::Cancelled: return "stopped on request";
    case Outcome::TimedOut: return "ran longer than its timeout";
    case Outcome::Lost: return "lost by its worker";
    case Outcome::Interrupted: return "its worker was stopped";
    case Outcome::Failed: break;
  }
  if (r.signal != 0) return cat("killed by signal ", r.signal);
  return cat("exited with ", r.exit_code.value_or(0));
}

void remember(LiveWorker& worker, bool good) {
  ++(good ? worker.succeeded : worker.failed);
  worker.success = worker.success * kHistoryDecay + (good ? 1 - kHistoryDecay : 0);
}

}  // namespace

Engine::Answer Engine::on(const Report& c, Now now, Turn& turn) {
  LiveWorker* worker = state_.worker(c.worker);
  if (worker == nullptr || (c.stream != 0 && c.stream != worker->stream)) {
    return absl::AbortedError("this stream has been replaced by a newer one");
  }
  Reported out;
  for (const StartedReport& r : c.started) out.accepted.push_back(on_started(c.worker, r, now, turn));
  for (const ProgressReport& r : c.progress) out.accepted.push_back(on_progress(c.worker, r, now, turn));
  for (const ResultReport& r : c.results) {
    out.accepted.push_back(on_result(c.worker, r, now, turn));
    if (c.stream != 0) turn.effects.push_back(AckResult{c.worker, c.stream, r.execution});
  }
  return out;
}

bool Engine::on_started(const WorkerId& worker, const StartedReport& r, Now now, Turn& turn) {
  const JobHead* job = current(worker, r.execution);
  if (job == nullptr) return false;
  if (job->state == JobState::Running) return true;
  Draft draft(*job);
  ++draft.head.attempts;
  draft.move(JobEvent::Start, now.wall, "started");
  draft.execution().state = JobState::Running;
  draft.execution().started = when(r.at, now);
  draft.head.lost_dispatches = 0;
  draft.past.refused_by.clear();
  await_timeout(draft.head, now);
  store(draft, now, turn);
  note_start(*state_.worker(worker));
  return true;
}

bool Engine::on_progress(const WorkerId& worker, const ProgressReport& r, Now, Turn& turn) {
  const JobHead* job = current(worker, r.execution);
  if (job == nullptr || job->state != JobState::Running) return false;
  Draft draft(*job);
  draft.past.progress = bounded(r.percentage, 0, 100, 0);
  draft.past.progress_message = clipped(r.message);
  const JobPtr stored = draft.finish();
  write(PutJob{stored}, turn);
  turn.effects.push_back(JobProgressed{stored});
  return true;
}

bool Engine::on_result(const WorkerId& worker, const ResultReport& r, Now now, Turn& turn) {
  const JobHead* job = current(worker, r.execution);
  if (job == nullptr) return false;
  const bool asked = job->cancel_requested || job->timeout_requested;
  const bool ended_early =
      r.outcome == Outcome::Cancelled || r.outcome == Outcome::Failed || r.outcome == Outcome::Interrupted;
  if (job->requeue != Requeue::No && !asked && ended_early) {
    // Also one that fails as it is told to end: it was not let finish.
    if (r.started.is_set()) on_started(worker, {r.execution, r.started}, now, turn);
    Draft draft(*state_.job(r.execution.job)->head);
    end_put_back(draft, r, now, turn);
    return true;
  }
  if (r.outcome == Outcome::Interrupted && !asked && state_.worker(worker)->record->stopped) {
    interrupt(r, worker, now, turn);
    return true;
  }
  // Interrupted by a worker that does not stop is just lost: an execution that starts and counts for nothing could be
  // repeated for ever.
  if (r.outcome == Outcome::Lost || r.outcome == Outcome::Interrupted || (r.outcome == Outcome::Cancelled && !asked)) {
    // Also a worker that ends its jobs because it is being stopped: nobody asked for this job's end.
    if (r.started.is_set()) on_started(worker, {r.execution, r.started}, now, turn);
    const bool refused = r.outcome == Outcome::Lost && !r.started.is_set();
    lose(r.execution, words(r), now, turn, refused ? r.failure : "");
    return true;
  }
  // A cancel says nothing about the worker.
  if (r.outcome != Outcome::Cancelled) remember(*state_.worker(worker), r.outcome == Outcome::Succeeded);
  end_execution(*job, r, now, turn);
  return true;
}

void Engine::end_execution(const JobHead& job, const ResultReport& r, Now now, Turn& turn) {
  Draft draft(job);
  // The report of its start may not have come through; one that failed to start used up an attempt all the same. One
  // that was cancelled before it started did not.
  if (draft.head.state == JobState::Scheduled) {
    if (r.started.is_set() || r.outcome != Outcome::Cancelled) ++draft.head.attempts;
    if (r.started.is_set() || r.outcome == Outcome::Succeeded || r.outcome == Outcome::TimedOut) {
      draft.move(JobEvent::Start, now.wall, "started");
      draft.execution().started = when(r.started, now);
    }
  }
  Execution& e = draft.execution();
  e.ended = std::max(when(r.ended, now), e.started);
  e.exit_code = r.exit_code;
  e.signal = r.signal;
  e.facts = r.facts;
  e.log_bytes = r.log_bytes;
  e.reason = words(r);
  e.failure = r.failure;
  draft.past.failure = r.outcome == Outcome::Succeeded ? "" : r.failure;
  if (!r.output.empty()) draft.past.output = r.output;

  const bool timed_out = r.outcome == Outcome::TimedOut || (r.outcome == Outcome::Cancelled && !job.cancel_requested);
  const JobEvent event = r.outcome == Outcome::Succeeded   ? JobEvent::Succeed
                         : timed_out                       ? JobEvent::TimeOut
                         : r.outcome == Outcome::Cancelled ? JobEvent::Cancel
                                                           : JobEvent::Fail;
  std::string reason = e.reason;
  if (event == JobEvent::Cancel && !draft.past.cancel_reason.empty())
    reason = cat("cancelled on request: ", draft.past.cancel_reason);
  draft.move(event, now.wall, reason);
  draft.execution().state = draft.head.state;
  draft.head.timeout_requested = false;
  draft.head.requeue = Requeue::No;
  if (event == JobEvent::Fail || event == JobEvent::TimeOut) retry_if_allowed(draft, reason, now);
  store(draft, now, turn);
}

void Engine::retry_if_allowed(Draft& draft, const std::string& reason, Now now) {
  JobHead& head = draft.head;
  if (!may_retry(head)) return;
  const Duration wait = backoff_delay(head);
  head.lost_dispatches = 0;
  draft.past.interruptions = 0;
  draft.move(JobEvent::Retry, now.wall,
             cat("attempt ", head.attempts, " of ", head.max_attempts, " ended (", reason, "); next in ",
                 wait.count() / 1000, " ms"));
  head.not_before = now.wall + wait;
  head.worker = WorkerId();
}

void Engine::interrupt(const ResultReport& r, const WorkerId& worker, Now now, Turn& turn) {
  if (r.started.is_set()) on_started(worker, {r.execution, r.started}, now, turn);
  Draft draft(*state_.job(r.execution.job)->head);
  const bool ran = draft.head.state == JobState::Running;
  draft.head.requeue = Requeue::Interrupted;
  draft.past.cancel_reason = cat(ran ? "interrupted: worker " : "not started: worker ", worker.str(), " was stopped");
  end_put_back(draft, r, now, turn);
}

// The job never started, so it never ends here.
void Engine::send_again_later(Draft& draft, const std::string& why, Now now) {
  JobHead& head = draft.head;
  std::vector<WorkerId>& refused_by = draft.past.refused_by;
  std::erase(refused_by, head.worker);
  if (refused_by.size() == kMaxRefusedBy) refused_by.erase(refused_by.begin());
  refused_by.push_back(head.worker);
  const Duration wait = dispatch_delay(++head.lost_dispatches);
  draft.move(JobEvent::Lose, now.wall,
             cat(why, "; the job had not started; it will be sent again in ", wait.count() / 1000, " ms"));
  head.not_before = now.wall + wait;
  head.worker = WorkerId();
}

void Engine::lose(ExecutionId execution, const std::string& why, Now now, Turn& turn, const std::string& failure) {
  const LiveJob* live = state_.job(execution.job);
  HODEI_CHECK(live != nullptr && live->head->current() == execution);
  Draft draft(*live->head);
  JobHead& head = draft.head;
  Execution& e = draft.execution();
  e.ended = now.wall;
  e.reason = why;
  e.failure = failure.empty() ? "worker_lost" : failure;
  turn.effects.push_back(ExecutionLost{execution});
  const bool timed_out = std::exchange(head.timeout_requested, false);
  const bool ran = head.state == JobState::Running;
  LiveWorker* worker = state_.worker(head.worker);
  const bool stopped = worker != nullptr && worker->record->stopped;
  bool refused = false;
  if (head.cancel_requested) {
    draft.move(JobEvent::Cancel, now.wall, cat("cancelled on request; its worker was lost: ", why));
  } else if (ran && timed_out) {
    // Its end was asked for and is now proven: that is the time-out, not a lost execution.
    draft.past.failure = "worker_lost";
    draft.move(JobEvent::TimeOut, now.wall, cat("ran longer than its timeout; then ", why));
  } else if (head.requeue != Requeue::No || stopped) {
    if (head.requeue == Requeue::No) {
      // It said that it stops: that is why nothing was heard of the execution any more.
      head.requeue = Requeue::Interrupted;
      draft.past.cancel_reason =
          cat(ran ? "interrupted: worker " : "not started: worker ", worker->id().str(), " was stopped (", why, ")");
    }
    return_to_queue(draft, now);
  } else if (ran && !may_retry(head)) {
    draft.past.failure = "worker_lost";
    const std::string again = head.allow_retry
                                  ? cat("no attempts left (", head.attempts, " of ", head.max_attempts, ")")
                                  : "retries are not allowed";
    draft.move(JobEvent::Fail, now.wall, cat(why, "; ", again));
  } else if (!ran) {
    refused = true;
    send_again_later(draft, why, now);
  } else {
    draft.past.interruptions = 0;
    draft.move(JobEvent::Lose, now.wall, why);
    head.worker = WorkerId();
  }
  e.state = head.state;
  head.requeue = Requeue::No;
  if (head.state == JobState::Timeout) retry_if_allowed(draft, why, now);
  // Before its slot is filled again.
  if (refused && worker != nullptr && worker->connected) note_refusal(*worker, now);
  store(draft, now, turn);
}

}  // namespace hodei::core
