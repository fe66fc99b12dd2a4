// The end of workers that nobody needs, of those that never came, and the ones that pools keep.
#include "src/base/status.h"
#include "src/core/engine.h"
#include "src/core/provision/prospect.h"

namespace hodei::core {
namespace {

constexpr Duration kRefusalMemory = std::chrono::minutes(10);

}  // namespace

void Engine::sweep_making(Now now, Turn& turn) {
  sweep_deadlines(now, turn);
  sweep_idle(now, turn);
  sweep_unwanted(now, turn);
  sweep_pools(now, turn);
  bury_gone(now, turn);
  fail_unmakable(now, turn);
  // Remembered a while longer than they hold: the next one in a row holds longer.
  std::erase_if(making_.refusals, [now](const auto& e) { return e.second.until + kRefusalMemory <= now.mono; });
  if (!making_.wanted.empty()) making_.look_again();
}

void Engine::sweep_deadlines(Now now, Turn& turn) {
  std::vector<WorkerId> late;
  for (const auto& [id, attempt] : making_.attempts) {
    if (attempt.deadline <= now.mono) late.push_back(id);
  }
  for (const WorkerId& id : late) {
    LiveWorker* worker = state_.worker(id);
    const bool ran = worker->state == WorkerState::Connecting;
    const bool registered = worker->record->session != Hash128{};
    const Duration limit = ran ? config_.registration_limit : config_.making_limit;
    const std::string held_up = making_.attempts[id].held_up;
    give_up(*worker, MakingFailure::Trouble,
            cat("worker ", id.str(),
                registered ? " registered but did not connect within "
                : ran      ? " is running but did not register within "
                           : " did not start within ",
                limit.count() / 1'000'000, " s", held_up.empty() ? "" : ": ", held_up),
            now, turn);
  }
  std::vector<WorkerId> lingering;
  for (const auto& [id, until] : making_.leaving) {
    if (until <= now.mono) lingering.push_back(id);
  }
  for (const WorkerId& id : lingering) destroy(*state_.worker(id), turn);
}

void Engine::sweep_idle(Now now, Turn& turn) {
  std::vector<LiveWorker*> unneeded;
  for (const auto& [id, worker] : state_.workers()) {
    const std::optional<Made>& made = worker->record->info.made;
    if (!made) continue;
    // Silent for longer than its lease, it runs nothing any more; what is left of it goes.
    const bool lost = now.mono - worker->last_seen >= config_.lost_after && worker->executions.empty();
    if (takes_work(worker->state) && lost) {
      give_up(*worker, MakingFailure::Trouble, "silent for longer than its lease", now, turn);
      continue;
    }
    if (worker->state != WorkerState::Ready || !worker->executions.empty()) {
      making_.idle_since.erase(id);
      continue;
    }
    const auto [since, fresh] = making_.idle_since.try_emplace(id, now.mono);
    const auto pool = state_.pools().find(made->pool);
    const auto provider = state_.providers().find(made->provider);
    const bool unwanted = provider == state_.providers().end() || provider->second.row.mode == ProviderMode::Disabled;
    const Duration limit = unwanted                       ? Duration(0)
                           : pool == state_.pools().end() ? config_.idle_limit
                                                          : pool->second.idle;
    if (now.mono - since->second >= limit) unneeded.push_back(worker.get());
  }
  for (LiveWorker* worker : unneeded) {
    if (!pool_can_spare(*worker)) continue;
    note_end(*worker, "it was no longer needed", turn);
    set_worker_state(*worker, WorkerEvent::Drain, turn);
    leave_if_drained(*worker, now, turn);
  }
}

bool Engine::pool_can_spare(const LiveWorker& worker) const {
  const Made& made = *worker.record->info.made;
  const auto pool = state_.pools().find(made.pool);
  if (pool == state_.pools().end()) return true;
  uint32_t kept = 0, idle = 0;
  for (const auto& [id, other] : state_.workers()) {
    const std::optional<Made>& of = other->record->info.made;
    if (!of || of->pool != made.pool || !other->in_service()) continue;
    ++kept;
    idle += other->executions.empty();
  }
  return kept > pool->second.min && idle > pool->second.spare;
}

void Engine::sweep_pools(Now now, Turn& turn) {
  for (const auto& [name, pool] : state_.pools()) {
    if (pool.min == 0 && pool.spare == 0) continue;
    uint32_t all = 0, ready = 0;
    for (const auto& [id, worker] : state_.workers()) {
      const std::optional<Made>& made = worker->record->info.made;
      if (!made || made->pool != name) continue;
      const bool coming = worker->state == WorkerState::Creating || worker->state == WorkerState::Connecting;
      all += coming || worker->in_service();
      // One that comes for a job will not be idle.
      ready += (coming && made->for_job == 0) || (worker->state == WorkerState::Ready && worker->executions.empty());
    }
    const Shape shape = shape_of(pool);
    while ((all < pool.min || ready < pool.spare) && (pool.max == 0 || all < pool.max)) {
      LiveProvider* provider = choose_provider(shape, now);
      if (provider == nullptr) break;
      make_worker(shape, *provider, JobId{}, pool.ns, now, turn);
      ++all;
      ++ready;
    }
  }
}

void Engine::retire_if_used(LiveWorker& worker, Now now, Turn& turn) {
  const std::optional<Made>& made = worker.record->info.made;
  if (!made || !made->one_job || !worker.executions.empty() || worker.state != WorkerState::Ready) return;
  note_end(worker, "it was created for one job", turn);
  set_worker_state(worker, WorkerEvent::Drain, turn);
  leave_if_drained(worker, now, turn);
}

void Engine::left(LiveWorker& worker, Now now, Turn& turn) {
  if (!worker.record->info.made) return;
  making_.attempts.erase(worker.id());
  making_.idle_since.erase(worker.id());
  // Connected, it is given time to send what it still has and to go by itself.
  if (worker.connected) {
    making_.leaving[worker.id()] = now.mono + config_.leaving_limit;
  } else {
    destroy(worker, turn);
  }
}

}  // namespace hodei::core
