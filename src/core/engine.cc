#include "src/core/engine.h"

#include <algorithm>

#include "src/core/job/draft.h"
#include "src/core/job/retry.h"

namespace hodei::core {

void Engine::restored(Now now, std::optional<WallTime> steady) {
  loaded_ = {steady.value_or(now.wall), now.mono};
  for (const auto& [id, worker] : state_.workers()) {
    worker->last_seen = now.mono;
    worker->last_seen_wall = now.wall;
    worker->connecting_since = now.mono;
  }
  for (const auto& [not_before, job] : state_.delayed()) wait_out(*state_.job(job)->head, now);
  for (const auto& [id, live] : state_.jobs()) {
    if (live.head->state == JobState::Running) await_timeout(*live.head, now);
  }
  // Nobody knows how much of a burst was used before: it has to be earned again.
  for (const auto& [name, key] : state_.keys().set_by_people()) {
    key->setting->bucket.set(key->setting->rule.rate, key->setting->rule.burst, now.mono);
    key->setting->bucket.empty(now.mono);
  }
  next_sweep_ = now.mono + config_.sweep;
  next_audit_sweep_ = now.mono + kAuditSweep;
}

void Engine::wait_out(const JobHead& job, Now now) {
  // A wall clock that was set since then must not make anybody wait longer than the longest back-off.
  const Duration longest = job.lost_dispatches > 0 ? Duration(kLongestDispatchDelay) : job.backoff.max;
  const Duration left = std::clamp(job.not_before - now.wall, Duration(0), longest);
  due_.set(job.id, now.mono + left);
}

void Engine::await_timeout(const JobHead& job, Now now) {
  if (job.timeout > Duration(0)) timeouts_.set(job.current(), now.mono + job.timeout);
}

absl::StatusOr<Reply> Engine::decide(const Command& command, Now now, Turn& turn) {
  Answer answer = std::visit([&](const auto& c) { return on(c, now, turn); }, command);
  settle(now, turn);
  provision(now, turn);
  return answer;
}

void Engine::write(Write w, Turn& turn) {
  state_.fold(w);
  turn.writes.push_back(std::move(w));
}

void Engine::store(Draft& draft, Now now, Turn& turn) {
  const size_t first = draft.first_new();
  const JobPtr job = draft.finish();
  const LiveJob* before = state_.job(job->id);
  const bool had_slot = before != nullptr && is_active(before->head->state);
  const WorkerId old_worker = had_slot ? before->head->worker : WorkerId();
  if (before != nullptr && before->head->state == JobState::Running && job->state != JobState::Running) {
    timeouts_.cancel(before->head->current());
  }
  if (before != nullptr && before->where == LiveJob::Where::Delayed) due_.cancel(job->id);
  if (is_terminal(job->state)) {
    write(FinishJob{job}, turn);
    if (!job->concurrency_key.empty() && !state_.key_in_use(job->ns.str(), job->concurrency_key)) {
      write(DeleteKeyLimit{job->ns.str(), job->concurrency_key}, turn);
    }
  } else {
    write(PutJob{job}, turn);
    if (job->not_before.is_set()) wait_out(*job, now);
  }
  turn.effects.push_back(JobMoved{job, first});
  if (is_active(job->state)) return;

  // Woken jobs are only put into their lanes at first: the freed worker takes the most urgent of all that wait.
  std::vector<JobId> woken;
  if (!job->concurrency_key.empty()) woken = wake_key(job->ns.str(), job->concurrency_key, now);
  if (job->state == JobState::Pending) woken.push_back(job->id);
  LiveWorker* worker = had_slot ? state_.worker(old_worker) : nullptr;
  if (worker != nullptr) {
    leave_if_drained(*worker, now, turn);
    retire_if_used(*worker, now, turn);
    fill(*worker, now, turn);
  }
  place_woken(std::move(woken), now, turn);
  const Tenant* tenant = had_slot ? state_.roster().find_tenant(job->ns) : nullptr;
  if (tenant != nullptr && tenant->has_quota()) wake_tenant(job->ns, now, turn);
}

const JobHead* Engine::current(const WorkerId& worker, ExecutionId execution) const {
  const LiveJob* live = state_.job(execution.job);
  if (live == nullptr || !is_active(live->head->state)) return nullptr;
  if (live->head->executions != execution.number || live->head->worker != worker) return nullptr;
  return live->head.get();
}

bool Engine::was_given(const WorkerId& worker, ExecutionId execution) const {
  const LiveJob* live = state_.job(execution.job);
  if (live == nullptr || live->head->past == nullptr) return false;
  const std::vector<Execution>& all = live->head->past->executions;
  return std::any_of(all.begin(), all.end(),
                     [&](const Execution& e) { return e.number == execution.number && e.worker == worker; });
}

}  // namespace hodei::core
