// What time brings: back-offs that end, silence, time-outs, things that expire.
#include <algorithm>

#include "src/base/status.h"
#include "src/core/engine.h"
#include "src/core/job/draft.h"

namespace hodei::core {
namespace {

constexpr Duration kForgetTerminatedAfter = std::chrono::hours(1);
// Jobs whose time has come that one tick looks at; the rest is due at once again, in the next turn.
constexpr size_t kMaxDuePerTick = 4'096;

}  // namespace

MonoTime Engine::next_wakeup() const {
  if (!making_.resumed) return MonoTime{0};
  MonoTime at = next_sweep_;
  at = std::min({at, due_.next(), timeouts_.next()});
  if (!pauses_.empty()) at = std::min(at, pauses_.begin()->first);
  if (!key_timers_.empty()) at = std::min(at, key_timers_.begin()->first);
  return at;
}

Engine::Answer Engine::on(const Tick&, Now now, Turn& turn) {
  for (size_t n = 0; n < kMaxDuePerTick && due_.is_due(now.mono); ++n) {
    const JobId job = due_.take_first();
    const LiveJob* live = state_.job(job);
    if (live == nullptr || live->where != LiveJob::Where::Delayed) continue;
    state_.queue(job);
    place_job(job, now, turn);
  }
  end_due_pauses(now, turn);
  wake_due_keys(now, turn);
  sweep_timeouts(now, turn);
  if (now.mono >= next_sweep_) {
    next_sweep_ = now.mono + config_.sweep;
    sweep_workers(now, turn);
    sweep_waiting(now, turn);
    sweep_expired(now, turn);
    sweep_audit(now, turn);
    sweep_making(now, turn);
  }
  return Done{};
}

Engine::Answer Engine::on(const Stall& c, Now, Turn&) {
  for (const auto& [id, worker] : state_.workers()) {
    worker->last_seen = worker->last_seen + c.length;
    worker->connecting_since = worker->connecting_since + c.length;
    for (auto& [execution, since] : worker->disputed) since = since + c.length;
  }
  for (auto& [id, attempt] : making_.attempts) attempt.deadline = attempt.deadline + c.length;
  return Done{};
}

void Engine::sweep_timeouts(Now now, Turn& turn) {
  for (size_t n = 0; n < kMaxDuePerTick && timeouts_.is_due(now.mono); ++n) {
    const ExecutionId execution = timeouts_.take_first();
    const LiveJob* live = state_.job(execution.job);
    if (live == nullptr || live->head->current() != execution || live->head->state != JobState::Running) continue;
    if (is_ending(*live->head)) continue;
    Draft draft(*live->head);
    draft.head.timeout_requested = true;
    draft.past.reason = "over its timeout; waiting for the worker to stop it";
    const JobPtr job = draft.finish();
    write(PutJob{job}, turn);
    const LiveWorker* worker = state_.worker(job->worker);
    if (worker != nullptr && worker->connected) {
      turn.effects.push_back(CancelExecution{job->worker, worker->stream, execution, true, job->grace});
    }
  }
}

void Engine::sweep_workers(Now now, Turn& turn) {
  std::vector<LiveWorker*> gone;
  std::vector<LiveWorker*> forgotten;
  std::vector<LiveWorker*> never_came;
  for (const auto& [id, worker] : state_.workers()) {
    const Duration silent = now.mono - worker->last_seen;
    const bool made = worker->record->info.made.has_value();
    if (made && (worker->state == WorkerState::Creating || worker->state == WorkerState::Connecting)) continue;
    if (worker->state == WorkerState::Terminated) {
      if (silent >= kForgetTerminatedAfter) forgotten.push_back(worker.get());
      continue;
    }
    if (worker->state == WorkerState::Connecting && worker->executions.empty()) {
      if (now.mono - worker->connecting_since >= config_.registration_limit) never_came.push_back(worker.get());
      continue;
    }
    // One that said that it stops, and has, is not missed.
    const bool is_missed = !worker->record->stopped || !worker->executions.empty();
    const bool is_silent = silent >= config_.unhealthy_after;
    if (is_silent && worker->unhealthy != is_missed) {
      worker->unhealthy = is_missed;
      state_.roster().refresh(worker.get());
    }
    if (silent >= config_.lost_after && !worker->executions.empty()) gone.push_back(worker.get());
    const Duration forget_after = worker->record->stopped ? config_.forget_stopped_after : config_.forget_worker_after;
    if (silent >= forget_after && worker->executions.empty() && !made) forgotten.push_back(worker.get());
  }
  for (LiveWorker* worker : gone) {
    const std::vector<ExecutionId> executions(worker->executions.begin(), worker->executions.end());
    if (worker->connected) {
      turn.effects.push_back(DropStream{worker->id(), worker->stream, "silent for longer than its lease"});
      worker->connected = false;
      state_.roster().refresh(worker);
    }
    for (const ExecutionId& execution : executions) {
      lose(execution,
           cat("worker ", worker->id().str(), " was silent for ", config_.lost_after.count() / 1'000'000, " s",
               worker->end_reason.empty() ? "" : ": ", worker->end_reason),
           now, turn);
    }
  }
  for (LiveWorker* worker : never_came) {
    revoke_otps(worker->id(), turn);
    end_worker(*worker, WorkerEvent::Expire,
               cat("it registered, but did not connect within ", config_.registration_limit.count() / 1'000'000, " s"),
               now, turn);
  }
  for (LiveWorker* worker : forgotten) write(DeleteWorker{worker->id()}, turn);
}

void Engine::sweep_expired(Now now, Turn& turn) {
  std::vector<Hash128> stale;
  for (const auto& [token, otp] : state_.otps()) {
    if (otp.expires <= steady_wall(now)) stale.push_back(token);
  }
  for (const Hash128& token : stale) write(DeleteOtp{token}, turn);
  // Not by a clock that people set: a client that asks again a second later must get the same job.
  if (now.mono < loaded_.mono + config_.idempotency_grace) return;
  const std::optional<WallTime> oldest = state_.idempotency().first_end();
  if (const WallTime wall = steady_wall(now); oldest && *oldest < wall) write(ExpireIdempotency{wall}, turn);
}

}  // namespace hodei::core
