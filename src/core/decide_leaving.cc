// Workers that leave: drained, unregistered, given up; and what becomes of their tokens and of what they had.
#include "src/base/clip.h"
#include "src/base/status.h"
#include "src/core/engine.h"

namespace hodei::core {
namespace {

constexpr size_t kMaxEndReason = 1000;  // characters

}  // namespace

void Engine::leave_if_drained(LiveWorker& worker, Now now, Turn& turn) {
  if (worker.state != WorkerState::Draining || !worker.executions.empty()) return;
  set_worker_state(worker, WorkerEvent::Leave, turn);
  left(worker, now, turn);
  if (worker.connected) turn.effects.push_back(TellDrain{worker.id(), worker.stream, "drained"});
}

Engine::Answer Engine::on(const DrainWorker& c, Now now, Turn& turn) {
  LiveWorker* worker = state_.worker(c.worker);
  if (worker == nullptr) return absl::NotFoundError(cat("worker ", c.worker.str(), " is not registered"));
  const auto remaining = static_cast<uint32_t>(worker->executions.size());
  if (c.now) interrupt_all(*worker, c.reason, turn);
  if (worker->state == WorkerState::Draining || worker->state == WorkerState::Terminating) return Drained{remaining};
  if (worker->state == WorkerState::Creating) {
    record_act(c.principal, {"worker.drained", c.worker.str(), c.reason}, now, turn);
    give_up(*worker, MakingFailure::Room, "drained before it registered", now, turn);
    return Drained{0};
  }
  if (!next(worker->state, WorkerEvent::Drain)) {
    return absl::FailedPreconditionError(
        cat("worker ", c.worker.str(), " is ", name(worker->state), " and cannot be drained"));
  }
  note_end(*worker, cat("drained", c.reason.empty() ? "" : ": ", c.reason), turn);
  set_worker_state(*worker, WorkerEvent::Drain, turn);
  record_act(c.principal, {"worker.drained", c.worker.str(), c.reason}, now, turn);
  if (worker->connected) {
    turn.effects.push_back(TellDrain{worker->id(), worker->stream, c.reason.empty() ? "draining" : c.reason});
  }
  leave_if_drained(*worker, now, turn);
  return Drained{remaining};
}

Engine::Answer Engine::on(const UndrainWorker& c, Now now, Turn& turn) {
  LiveWorker* worker = state_.worker(c.worker);
  if (worker == nullptr) return absl::NotFoundError(cat("worker ", c.worker.str(), " is not registered"));
  if (!takes_work(worker->state)) {
    if (!next(worker->state, WorkerEvent::Undrain)) {
      return absl::FailedPreconditionError(cat("worker ", c.worker.str(), " is ", name(worker->state),
                                               " and cannot take jobs again; start it again with a new token"));
    }
    auto record = std::make_shared<WorkerRecord>(*worker->record);
    record->info.end_reason.clear();
    write(PutWorker{record}, turn);
    set_worker_state(*worker, WorkerEvent::Undrain, turn);
    record_act(c.principal, {"worker.undrained", c.worker.str(), ""}, now, turn);
    if (worker->connected) turn.effects.push_back(TellDrain{worker->id(), worker->stream, "undrained", true});
    check_reservations(now, true);
    fill(*worker, now, turn);
  }
  return answer(DescribeWorkers{c.worker.str(), true}, now);
}

void Engine::start_otps(const WorkerId& worker, Now now, Turn& turn) {
  std::vector<OtpRow> tokens;
  for (const auto& [token, otp] : state_.otps()) {
    if (otp.worker == worker) tokens.push_back(otp);
  }
  for (OtpRow& otp : tokens) {
    otp.expires = std::min(otp.expires, steady_wall(now) + config_.otp_life);
    write(PutOtp{otp}, turn);
  }
}

void Engine::revoke_otps(const WorkerId& worker, Turn& turn) {
  std::vector<Hash128> tokens;
  for (const auto& [token, otp] : state_.otps()) {
    if (otp.worker == worker) tokens.push_back(token);
  }
  for (const Hash128& token : tokens) write(DeleteOtp{token}, turn);
}

void Engine::note_end(LiveWorker& worker, const std::string& reason, Turn& turn) {
  if (!worker.record->info.end_reason.empty() || reason.empty()) return;
  auto record = std::make_shared<WorkerRecord>(*worker.record);
  record->info.end_reason = std::string(clip(reason, kMaxEndReason));
  write(PutWorker{record}, turn);
}

void Engine::end_worker(LiveWorker& worker, WorkerEvent event, const std::string& reason, Now now, Turn& turn) {
  set_worker_state(worker, event, turn);
  auto record = std::make_shared<WorkerRecord>(*worker.record);
  record->info.ended = now.wall;
  if (record->info.end_reason.empty()) record->info.end_reason = std::string(clip(reason, kMaxEndReason));
  record->state = WorkerState::Terminated;
  write(PutWorker{record}, turn);
  worker.last_seen = now.mono;
}

// Its own word that it runs nothing any more is as good as its result for each of them.
void Engine::give_back_all(LiveWorker& worker, const std::string& reason, Now now, Turn& turn) {
  set_stopped(worker, true, turn);  // nothing is sent to it any more, and no attempt is used up
  state_.roster().refresh(&worker);
  const std::vector<ExecutionId> executions(worker.executions.begin(), worker.executions.end());
  for (const ExecutionId& execution : executions) {
    lose(execution, cat("it unregistered", reason.empty() ? "" : ": ", reason), now, turn);
  }
}

Engine::Answer Engine::on(const UnregisterWorker& c, Now now, Turn& turn) {
  LiveWorker* worker = state_.worker(c.worker);
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
    turn.effects.push_back(DropStream{worker->id(), worker->stream, "unregistered"});
  }
  worker->connected = false;
  if (count > 0) give_back_all(*worker, c.reason, now, turn);
  revoke_otps(c.worker, turn);
  const std::string why = cat(c.by_itself ? "it unregistered" : "removed", c.reason.empty() ? "" : ": ", c.reason);
  record_act(c.principal, {c.by_itself ? "worker.unregistered" : "worker.removed", c.worker.str(), c.reason}, now,
             turn);
  if (worker->record->info.made) {
    give_up(*worker, MakingFailure::Room, why, now, turn);
    return Done{};
  }
  end_worker(*worker, WorkerEvent::Leave, why, now, turn);
  return Done{};
}

}  // namespace hodei::core
