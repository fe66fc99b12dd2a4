#include "src/core/fleet/streams.h"

#include <map>
#include <utility>

#include "src/base/status.h"
#include "src/core/fleet/succession.h"

namespace hodei::core {

Answer Streams::decide(const OpenStream& c, Turn& turn) {
  LiveWorker* worker = workers_.of_session(c.session);
  if (worker == nullptr || (worker->state == WorkerState::Terminated && !comes_late(*worker))) {
    return absl::UnauthenticatedError("session_id: unknown; register again");
  }
  const Incarnation who{c.incarnation, c.lineage, c.generation};
  RETURN_IF_ERROR(check_incarnation("hello.incarnation", c.incarnation));
  RETURN_IF_ERROR(check_incarnation("hello.lineage", c.lineage));
  RETURN_IF_ERROR(check_held("hello.held", c.held.size(), worker->record->info));
  RETURN_IF_ERROR(check_succession(*worker, {who, c.stopped}, config_, turn));
  if (comes_late(*worker)) {
    auto record = std::make_shared<WorkerRecord>(*worker->record);
    begin_again(*record);
    turn.write(Put<WorkerRecord>{record});
  }
  if (worker->connected) workers_.drop_stream(*worker, "the worker opened a new stream", turn);
  const bool has_followed_a_stop = has_stopped(c.stopped, worker->record->incarnation);
  connect(*worker, c, turn);
  if (c.stopping || has_followed_a_stop) workers_.set_stopped(*worker, true, turn);
  if (worker->state == WorkerState::Connecting) workers_.move(*worker, WorkerEvent::Open, turn);
  ports_.room->refresh(*worker);
  StreamOpened opened{worker->id(), reconcile(*worker, c, turn)};
  // Not before: what an earlier start had when it stopped was interrupted.
  if (!c.stopping) workers_.set_stopped(*worker, false, turn);
  if (worker->state == WorkerState::Draining || worker->state == WorkerState::Terminating) {
    turn.tell(TellDrain{worker->id(), worker->stream, "draining"});
  }
  departures_.leave_if_drained(*worker, turn);
  if (worker->record->info.made) ports_.makers->has_come(*worker, turn);
  ports_.room->fill(*worker, turn);
  return opened;
}

void Streams::connect(LiveWorker& worker, const OpenStream& hello, Turn& turn) {
  worker.connected = true;
  worker.stream = hello.stream;
  worker.last_seen = turn.mono();
  worker.last_seen_wall = turn.wall();
  worker.unhealthy = false;
  worker.lists_active = hello.lists_active;
  worker.disputed.clear();
  beats_.note_fitness(worker, hello.unfit, turn);
  const std::string who = to_text(Incarnation{hello.incarnation, hello.lineage, hello.generation});
  if (worker.record->incarnation == who) return;
  auto record = std::make_shared<WorkerRecord>(*worker.record);
  record->incarnation = who;
  turn.write(Put<WorkerRecord>(std::move(record)));
  worker.refusals = 0;
  worker.paused = false;
}

std::vector<ExecutionId> Streams::reconcile(LiveWorker& worker, const OpenStream& hello, Turn& turn) {
  std::map<ExecutionId, const HeldExecution*> held;
  for (const HeldExecution& h : hello.held) held[h.execution] = &h;
  WelcomeWorker welcome{worker.id(), hello.stream, {}, {}};
  for (const auto& [execution, h] : held) {
    const bool is_current = ports_.executions->current(worker.id(), execution) != nullptr;
    // An ended one that is not current has had its result recorded: its log may still be on the way, so it is kept.
    if (!is_current && !h->ended) welcome.unknown.push_back(execution);
    if (ports_.executions->was_given(worker.id(), execution))
      welcome.held.push_back(execution);  // how far a log is, its own worker may know
  }
  std::vector<ExecutionId> given = welcome.held;
  turn.tell(std::move(welcome));
  const bool follows_a_stop = worker.record->stopped && !hello.stopping;
  const std::vector<ExecutionId> believed(worker.executions.begin(), worker.executions.end());
  for (const ExecutionId& execution : believed) {
    const auto it = held.find(execution);
    if (it == held.end()) {
      ports_.executions->lose(execution, "the worker does not have this execution", turn);
      continue;
    }
    if (it->second->started) ports_.executions->started(worker.id(), execution, turn);
    const JobHead* job = ports_.executions->current(worker.id(), execution);
    if (job != nullptr && is_ending(*job)) {
      const bool timed_out = job->timeout_requested && !job->cancel_requested;
      turn.tell(CancelExecution{worker.id(), hello.stream, execution, timed_out, job->grace});
    }
  }
  if (!follows_a_stop) return given;
  for (const auto& [execution, h] : held) {
    if (h->ended && h->interrupted) ports_.executions->hear_of_interruption(worker.id(), execution, turn);
  }
  return given;
}

Answer Streams::decide(const CloseStream& c, Turn& turn) {
  LiveWorker* worker = workers_.find(c.worker);
  if (worker == nullptr || worker->stream != c.stream) return Done{};
  worker->connected = false;
  ports_.room->refresh(*worker);
  const bool made = worker->record->info.made.has_value();
  // One that was made is not started again: another is, when somebody needs it.
  if (made && worker->record->stopped && worker->executions.empty() && takes_work(worker->state)) {
    ports_.makers->give_up(*worker, "it was stopped", turn);
    return Done{};
  }
  if (worker->state != WorkerState::Terminating) return Done{};
  // One that was made is gone when its provider says so.
  if (made) {
    ports_.makers->destroy(*worker, turn);
  } else {
    workers_.end(*worker, WorkerEvent::Gone, "it left", turn);
  }
  return Done{};
}

}  // namespace hodei::core
