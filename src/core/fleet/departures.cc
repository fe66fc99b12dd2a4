#include "src/core/fleet/departures.h"

#include <memory>
#include <vector>

#include "src/base/status.h"
#include "src/core/fleet/incarnation.h"

namespace hodei::core {

void Departures::leave_if_drained(LiveWorker& worker, Turn& turn) {
  if (worker.state != WorkerState::Draining || !worker.executions.empty()) return;
  workers_.move(worker, WorkerEvent::Leave, turn);
  ports_.makers->left(worker, turn);
  if (worker.connected) turn.tell(TellDrain{worker.id(), worker.stream, "drained"});
}

Answer Departures::decide(const DrainWorker& c, Turn& turn) {
  LiveWorker* worker = workers_.find(c.worker);
  if (worker == nullptr) return absl::NotFoundError(cat("worker ", c.worker.str(), " is not registered"));
  const auto remaining = static_cast<uint32_t>(worker->executions.size());
  if (c.now) interrupt_all(*worker, c.reason, turn);
  if (worker->state == WorkerState::Draining || worker->state == WorkerState::Terminating) return Drained{remaining};
  if (worker->state == WorkerState::Creating) {
    audit_.record_act({"worker.drained", c.worker.str(), c.reason}, turn);
    ports_.makers->give_up(*worker, "drained before it registered", turn);
    return Drained{0};
  }
  if (!next(worker->state, WorkerEvent::Drain)) {
    return absl::FailedPreconditionError(
        cat("worker ", c.worker.str(), " is ", name(worker->state), " and cannot be drained"));
  }
  workers_.note_end(*worker, cat("drained", c.reason.empty() ? "" : ": ", c.reason), turn);
  workers_.move(*worker, WorkerEvent::Drain, turn);
  audit_.record_act({"worker.drained", c.worker.str(), c.reason}, turn);
  if (worker->connected) {
    turn.tell(TellDrain{worker->id(), worker->stream, c.reason.empty() ? "draining" : c.reason});
  }
  leave_if_drained(*worker, turn);
  return Drained{remaining};
}

Answer Departures::decide(const UndrainWorker& c, Turn& turn) {
  LiveWorker* worker = workers_.find(c.worker);
  if (worker == nullptr) return absl::NotFoundError(cat("worker ", c.worker.str(), " is not registered"));
  if (!takes_work(worker->state)) {
    if (!next(worker->state, WorkerEvent::Undrain)) {
      return absl::FailedPreconditionError(cat("worker ", c.worker.str(), " is ", name(worker->state),
                                               " and cannot take jobs again; start it again with a new token"));
    }
    auto record = std::make_shared<WorkerRecord>(*worker->record);
    record->info.end_reason.clear();
    turn.write(Put<WorkerRecord>{record});
    workers_.move(*worker, WorkerEvent::Undrain, turn);
    audit_.record_act({"worker.undrained", c.worker.str(), ""}, turn);
    if (worker->connected) turn.tell(TellDrain{worker->id(), worker->stream, "undrained", true});
    ports_.room->check_reservations(turn);
    ports_.room->fill(*worker, turn);
  }
  return Directory(workers_).decide(DescribeWorkers{c.worker.str(), true}, turn);
}

// Its own word that it runs nothing any more is as good as its result for each of them.
void Departures::give_back_all(LiveWorker& worker, const std::string& reason, Turn& turn) {
  workers_.set_stopped(worker, true, turn);  // nothing is sent to it any more, and no attempt is used up
  ports_.room->refresh(worker);
  const std::vector<ExecutionId> executions(worker.executions.begin(), worker.executions.end());
  for (const ExecutionId& execution : executions) {
    ports_.executions->lose(execution, cat("it unregistered", reason.empty() ? "" : ": ", reason), turn);
  }
}

Answer Departures::decide(const UnregisterWorker& c, Turn& turn) {
  LiveWorker* worker = workers_.find(c.worker);
  if (worker == nullptr || worker->state == WorkerState::Terminated) {
    return absl::NotFoundError(cat("worker ", c.worker.str(), " is not registered"));
  }
  // The word of an earlier start says nothing about what a later one with the same session runs.
  if (!c.incarnation.empty() && parse_incarnation(worker->record->incarnation).id != c.incarnation) {
    return absl::AbortedError(cat("worker ", c.worker.str(), " was started again since; it stays registered"));
  }
  const size_t count = worker->executions.size();
  const char* executions = count == 1 ? " execution" : " executions";
  if (count > 0 && !c.by_itself && worker->connected) {
    return absl::FailedPreconditionError(cat("worker ", c.worker.str(), " still runs ", count, executions,
                                             "; drain it first: hodei worker drain ", c.worker.str()));
  }
  if (count > 0 && !c.by_itself) {
    return absl::FailedPreconditionError(cat("worker ", c.worker.str(), " is disconnected and may still be running ",
                                             count, executions,
                                             "; they are given up when its lease has ended, then it can be "
                                             "unregistered"));
  }
  if (worker->connected) {
    turn.tell(DropStream{worker->id(), worker->stream, "unregistered"});
  }
  worker->connected = false;
  if (count > 0) give_back_all(*worker, c.reason, turn);
  tokens_.revoke(c.worker, turn);
  const std::string why = cat(c.by_itself ? "it unregistered" : "removed", c.reason.empty() ? "" : ": ", c.reason);
  audit_.record_act({c.by_itself ? "worker.unregistered" : "worker.removed", c.worker.str(), c.reason}, turn);
  if (worker->record->info.made) {
    ports_.makers->give_up(*worker, why, turn);
    return Done{};
  }
  workers_.end(*worker, WorkerEvent::Leave, why, turn);
  return Done{};
}

void Departures::interrupt_all(const LiveWorker& worker, const std::string& why, Turn& turn) {
  const std::vector<ExecutionId> executions(worker.executions.begin(), worker.executions.end());
  for (const ExecutionId& execution : executions) {
    const JobHead& job = ports_.executions->job_of(execution);
    if (is_ending(job)) continue;
    ports_.executions->put_back(job, Requeue::Interrupted,
                                cat("interrupted: worker ", worker.id().str(), " is being removed: ", why), turn);
  }
}

Answer Departures::decide(const WorkerStops& c, Turn& turn) {
  LiveWorker* worker = workers_.find(c.worker);
  // One that stops does not change its mind, whichever of its streams it said so on.
  const bool is_same =
      worker != nullptr && (c.incarnation.empty() ? worker->stream == c.stream
                                                  : parse_incarnation(worker->record->incarnation).id == c.incarnation);
  if (!is_same) return absl::AbortedError("this stream has been replaced by a newer one");
  workers_.set_stopped(*worker, true, turn);
  if (c.stream != 0 && worker->stream == c.stream) turn.tell(NoteStop{worker->id(), worker->stream});
  return Done{};
}

}  // namespace hodei::core
