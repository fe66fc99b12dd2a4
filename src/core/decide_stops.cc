// Workers that stop: they say so first, get nothing new, tell what becomes of what they have, and may come back with
// their session. And workers that start nothing of what they are sent: they are left alone for a while, so that a queue
// of jobs is not thrown at them again and again.
#include "src/base/status.h"
#include "src/core/engine.h"
#include "src/core/job/draft.h"
#include "src/core/job/retry.h"

namespace hodei::core {

Engine::Answer Engine::on(const WorkerStops& c, Now, Turn& turn) {
  LiveWorker* worker = state_.worker(c.worker);
  // One that stops does not change its mind, whichever of its streams it said so on.
  const bool is_same =
      worker != nullptr && (c.incarnation.empty() ? worker->stream == c.stream
                                                  : parse_incarnation(worker->record->incarnation).id == c.incarnation);
  if (!is_same) return absl::AbortedError("this stream has been replaced by a newer one");
  set_stopped(*worker, true, turn);
  if (c.stream != 0 && worker->stream == c.stream) turn.effects.push_back(NoteStop{worker->id(), worker->stream});
  return Done{};
}

void Engine::set_stopped(LiveWorker& worker, bool stopped, Turn& turn) {
  if (worker.record->stopped == stopped) return;
  auto record = std::make_shared<WorkerRecord>(*worker.record);
  record->stopped = stopped;
  write(PutWorker{record}, turn);
  if (stopped) making_.look_again();  // what waited for it may need a worker of its own
}

void Engine::hear_of_interruption(LiveWorker& worker, ExecutionId execution, Turn& turn) {
  const LiveJob* live = state_.job(execution.job);
  if (live == nullptr || live->head->current() != execution) return;
  Draft draft(*live->head);
  if (is_active(draft.head.state)) {
    if (draft.head.worker != worker.id() || is_ending(draft.head)) return;
    // Its result follows, from a start that does not stop itself.
    const bool ran = draft.head.state == JobState::Running;
    draft.head.requeue = Requeue::Interrupted;
    draft.past.cancel_reason =
        cat(ran ? "interrupted: worker " : "not started: worker ", worker.id().str(), " was stopped");
    draft.past.reason = draft.past.cancel_reason;
  } else {
    // Its worker was silent for too long, so it was given up; now we know why, and that it was no attempt.
    Execution& e = draft.execution();
    const bool counted = draft.head.state == JobState::Pending && e.state == JobState::Pending &&
                         e.worker == worker.id() && e.failure == "worker_lost" && e.started.is_set();
    if (!counted) return;
    --draft.head.attempts;
    if (live->where != LiveJob::Where::Delayed) draft.head.not_before = {};  // it is in a lane, and stays there
    e.failure = "interrupted";
    e.reason = cat("interrupted: worker ", worker.id().str(), " was stopped (", e.reason, ")");
  }
  write(PutJob{draft.finish()}, turn);
}

// What it was sent in one go comes back in one go: that is one round, however much it was.
void Engine::note_refusal(LiveWorker& worker, Now now) {
  if (worker.paused) return;
  worker.paused = true;
  worker.paused_until = now.mono + dispatch_delay(++worker.refusals);
  pauses_.insert({worker.paused_until, worker.id()});
  state_.roster().refresh(&worker);
}

void Engine::note_start(LiveWorker& worker) {
  worker.refusals = 0;
  // Not before: a worker that comes and cannot work says nothing good about who made it.
  if (const std::optional<Made>& made = worker.record->info.made) {
    const auto provider = state_.providers().find(made->provider);
    if (provider != state_.providers().end()) provider->second.failures_in_a_row = 0;
  }
  if (!worker.paused) return;
  end_pause(worker);
  touched_.push_back(worker.id());
}

void Engine::end_pause(LiveWorker& worker) {
  worker.paused = false;
  state_.roster().refresh(&worker);
}

void Engine::end_due_pauses(Now now, Turn& turn) {
  while (!pauses_.empty() && pauses_.begin()->first <= now.mono) {
    const WorkerId id = pauses_.begin()->second;
    pauses_.erase(pauses_.begin());
    LiveWorker* worker = state_.worker(id);
    if (worker == nullptr || !worker->paused || worker->paused_until > now.mono) continue;
    end_pause(*worker);
    fill(*worker, now, turn);
  }
}

}  // namespace hodei::core
