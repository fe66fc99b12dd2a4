// Workers that stop: they say so first, get nothing new, tell what becomes of what they have, and may come back with
// their session. And workers that start nothing of what they are sent: they are left alone for a while, so that a queue
// of jobs is not thrown at them again and again.
#include "src/base/status.h"
#include "src/core/engine.h"
#include "src/core/job/retry.h"

namespace hodei::core {

Engine::Answer Engine::on(const WorkerStops& c, Now, Turn& turn) {
  LiveWorker* worker = state_.worker(c.worker);
  if (worker == nullptr || worker->stream != c.stream) {
    return absl::AbortedError("this stream has been replaced by a newer one");
  }
  set_stopped(*worker, true, turn);
  turn.effects.push_back(NoteStop{worker->id(), worker->stream});
  return Done{};
}

void Engine::set_stopped(LiveWorker& worker, bool stopped, Turn& turn) {
  if (worker.record->stopped == stopped) return;
  auto record = std::make_shared<WorkerRecord>(*worker.record);
  record->stopped = stopped;
  write(PutWorker{record}, turn);
  if (stopped) making_.look_again();  // what waited for it may need a worker of its own
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
