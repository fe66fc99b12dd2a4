#include "src/core/jobs/reports.h"

#include <algorithm>
#include <utility>

#include "src/base/clip.h"
#include "src/base/finite.h"
#include "src/base/status.h"

namespace hodei::core {
namespace {

constexpr double kHistoryDecay = 0.9;  // weight of the past against one more execution
constexpr size_t kMaxMessage = 4096;

std::string clipped(const std::string& text) { return std::string(clip(text, kMaxMessage)); }

std::string reason_of(const ResultReport& r) {
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

Answer Reports::decide(const Report& c, Turn& turn) {
  LiveWorker* worker = workers_.find(c.worker);
  if (worker == nullptr || (c.stream != 0 && c.stream != worker->stream)) {
    return absl::AbortedError("this stream has been replaced by a newer one");
  }
  Reported out;
  for (const StartedReport& r : c.started) out.accepted.push_back(started(c.worker, r, turn));
  for (const ProgressReport& r : c.progress) out.accepted.push_back(progressed(c.worker, r, turn));
  for (const ResultReport& r : c.results) {
    out.accepted.push_back(ended(c.worker, r, turn));
    if (c.stream != 0) turn.tell(AckResult{c.worker, c.stream, r.execution});
  }
  return out;
}

bool Reports::started(const WorkerId& worker, const StartedReport& r, Turn& turn) {
  const JobHead* job = current(jobs_, worker, r.execution);
  if (job == nullptr) return false;
  if (job->state == JobState::Running) return true;
  Draft draft(*job);
  ++draft.head.attempts;
  draft.move(JobEvent::Start, turn.wall(), "started");
  draft.execution().state = JobState::Running;
  draft.execution().started = when(r.at, turn.now());
  draft.head.lost_dispatches = 0;
  draft.past.refused_by.clear();
  moves_.await_timeout(draft.head, turn);
  moves_.store(draft, turn);
  pauses_.note_start(*workers_.find(worker));
  return true;
}

bool Reports::progressed(const WorkerId& worker, const ProgressReport& r, Turn& turn) {
  const JobHead* job = current(jobs_, worker, r.execution);
  if (job == nullptr || job->state != JobState::Running) return false;
  Draft draft(*job);
  draft.past.progress = bounded(r.percentage, 0, 100, 0);
  draft.past.progress_message = clipped(r.message);
  const JobPtr stored = draft.finish();
  turn.write(PutJob{stored});
  turn.tell(JobProgressed{stored});
  return true;
}

bool Reports::ended(const WorkerId& worker, const ResultReport& r, Turn& turn) {
  const JobHead* job = current(jobs_, worker, r.execution);
  if (job == nullptr) return false;
  const bool asked = job->cancel_requested || job->timeout_requested;
  const bool ended_early =
      r.outcome == Outcome::Cancelled || r.outcome == Outcome::Failed || r.outcome == Outcome::Interrupted;
  if (job->requeue != Requeue::No && !asked && ended_early) {
    // Also one that fails as it is told to end: it was not let finish.
    if (r.started.is_set()) started(worker, {r.execution, r.started}, turn);
    Draft draft(*jobs_.find(r.execution.job)->head);
    requeues_.end_put_back(draft, r, turn);
    return true;
  }
  if (r.outcome == Outcome::Interrupted && !asked && workers_.find(worker)->record->stopped) {
    interrupt(r, worker, turn);
    return true;
  }
  // Interrupted by a worker that does not stop is just lost: an execution that starts and counts for nothing could be
  // repeated for ever.
  if (r.outcome == Outcome::Lost || r.outcome == Outcome::Interrupted || (r.outcome == Outcome::Cancelled && !asked)) {
    // Also a worker that ends its jobs because it is being stopped: nobody asked for this job's end.
    if (r.started.is_set()) started(worker, {r.execution, r.started}, turn);
    const bool refused = r.outcome == Outcome::Lost && !r.started.is_set();
    requeues_.lose(r.execution, reason_of(r), turn, refused ? r.failure : "");
    return true;
  }
  // A cancel says nothing about the worker.
  if (r.outcome != Outcome::Cancelled) remember(*workers_.find(worker), r.outcome == Outcome::Succeeded);
  end(*job, r, turn);
  return true;
}

void Reports::end(const JobHead& job, const ResultReport& r, Turn& turn) {
  Draft draft(job);
  // The report of its start may not have come through; one that failed to start used up an attempt all the same. One
  // that was cancelled before it started did not.
  if (draft.head.state == JobState::Scheduled) {
    if (r.started.is_set() || r.outcome != Outcome::Cancelled) ++draft.head.attempts;
    if (r.started.is_set() || r.outcome == Outcome::Succeeded || r.outcome == Outcome::TimedOut) {
      draft.move(JobEvent::Start, turn.wall(), "started");
      draft.execution().started = when(r.started, turn.now());
    }
  }
  Execution& e = draft.execution();
  e.ended = std::max(when(r.ended, turn.now()), e.started);
  e.exit_code = r.exit_code;
  e.signal = r.signal;
  e.facts = r.facts;
  e.log_bytes = r.log_bytes;
  e.reason = reason_of(r);
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
  draft.move(event, turn.wall(), reason);
  draft.execution().state = draft.head.state;
  draft.head.timeout_requested = false;
  draft.head.requeue = Requeue::No;
  if (event == JobEvent::Fail || event == JobEvent::TimeOut) requeues_.retry_if_allowed(draft, reason, turn);
  moves_.store(draft, turn);
}

void Reports::interrupt(const ResultReport& r, const WorkerId& worker, Turn& turn) {
  if (r.started.is_set()) started(worker, {r.execution, r.started}, turn);
  Draft draft(*jobs_.find(r.execution.job)->head);
  const bool ran = draft.head.state == JobState::Running;
  draft.head.requeue = Requeue::Interrupted;
  draft.past.cancel_reason = cat(ran ? "interrupted: worker " : "not started: worker ", worker.str(), " was stopped");
  requeues_.end_put_back(draft, r, turn);
}

}  // namespace hodei::core
