#include "src/core/fleet/pauses.h"

#include "src/core/jobs/retry.h"

namespace hodei::core {

// What it was sent in one go comes back in one go: that is one round, however much it was.
void Pauses::note_refusal(LiveWorker& worker, Turn& turn) {
  if (worker.paused) return;
  worker.paused = true;
  worker.paused_until = turn.mono() + dispatch_delay(++worker.refusals);
  turn.wake_at(worker.paused_until, {.kind = TimerKind::Pause, .name = worker.id().str()});
  ports_.room->refresh(worker);
}

void Pauses::note_start(LiveWorker& worker) {
  worker.refusals = 0;
  // Not before: a worker that comes and cannot work says nothing good about who made it.
  ports_.makers->has_started_a_job(worker);
  if (!worker.paused) return;
  end(worker);
  ports_.room->fill_later(worker.id());
}

void Pauses::end(LiveWorker& worker) {
  worker.paused = false;
  ports_.room->refresh(worker);
}

void Pauses::due(const Timer& timer, Turn& turn) {
  LiveWorker* worker = workers_.find(WorkerId(timer.name));
  if (worker == nullptr || !worker->paused || worker->paused_until > turn.mono()) return;
  end(*worker);
  ports_.room->fill(*worker, turn);
}

}  // namespace hodei::core
