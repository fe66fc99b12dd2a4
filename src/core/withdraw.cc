// Workers on their way that nobody waits for any more, and jobs for which none can be made.
#include <algorithm>
#include <tuple>

#include "src/base/status.h"
#include "src/core/engine.h"
#include "src/core/job/draft.h"
#include "src/core/provision/prospect.h"

namespace hodei::core {

int64_t Engine::waiting_for(const std::string& shape, const std::string& ns, Now now) const {
  const WaitingShape* waiting = state_.roster().shape(shape);
  if (waiting == nullptr) return 0;
  const PoolRow* pool = pool_of(*waiting->shape);
  int64_t jobs = 0;
  for (const Lane* lane : waiting->lanes) {
    const std::string served = pool != nullptr ? pool->ns : lane->tenant->ns.str();
    if (served == ns && !pool_against(pool, lane->tenant->ns.str())) jobs += startable(*lane, now);
  }
  return jobs;
}

// Whether its pool would make another in its place.
bool Engine::pool_needs(const Made& made) const {
  const auto pool = state_.pools().find(made.pool);
  if (pool == state_.pools().end()) return false;
  return pool->second.spare > 0 || pool_workers(made.pool) <= pool->second.min;
}

// Of the workers that have not begun to run, the ones that are more than the jobs of their shape need: first those
// whose own job waits no longer, then those that are held up, then the newest.
std::vector<LiveWorker*> Engine::surplus(Now now) const {
  using Group = std::pair<std::string, std::string>;  // shape, and whom they serve
  std::map<Group, std::vector<LiveWorker*>> groups;
  for (const auto& [id, attempt] : making_.attempts) {
    const auto worker = state_.workers().find(id);
    if (attempt.shape.empty() || worker == state_.workers().end()) continue;
    groups[{attempt.shape, worker->second->record->info.made->ns}].push_back(worker->second.get());
  }
  std::vector<LiveWorker*> out;
  for (auto& [group, workers] : groups) {
    int64_t slots = 0;
    for (const LiveWorker* worker : workers) slots += worker->record->info.slots;
    const int64_t wanted = std::max<int64_t>(0, waiting_for(group.first, group.second, now));
    if (slots <= wanted) continue;
    const auto order = [this](const LiveWorker* worker) {
      const LiveJob* job = state_.job(JobId{worker->record->info.made->for_job});
      const bool is_waited_for = job != nullptr && job->where == LiveJob::Where::InLane;
      return std::tuple(is_waited_for, making_.attempts.at(worker->id()).held_up.empty(),
                        -worker->record->info.made->asked.us, worker->id());
    };
    std::sort(workers.begin(), workers.end(), [&](const auto* a, const auto* b) { return order(a) < order(b); });
    for (LiveWorker* worker : workers) {
      if (slots - worker->record->info.slots < wanted) break;
      if (worker->state != WorkerState::Creating || pool_needs(*worker->record->info.made)) continue;
      slots -= worker->record->info.slots;
      out.push_back(worker);
    }
  }
  return out;
}

void Engine::sweep_unwanted(Now now, Turn& turn) {
  if (making_.attempts.empty()) return;
  const std::vector<LiveWorker*> unwanted = surplus(now);
  for (auto& [id, attempt] : making_.attempts) {
    const auto is_it = [&worker = id](const LiveWorker* w) { return w->id() == worker; };
    const bool is_wanted = std::none_of(unwanted.begin(), unwanted.end(), is_it);
    if (is_wanted) {
      attempt.unwanted_since = MonoTime{0};
    } else if (!attempt.unwanted_since.is_set()) {
      attempt.unwanted_since = now.mono;
    }
  }
  for (LiveWorker* worker : unwanted) {
    if (now.mono - making_.attempts.at(worker->id()).unwanted_since >= kWithdrawAfter) withdraw(*worker, turn);
  }
}

void Engine::withdraw(LiveWorker& worker, Turn& turn) {
  making_.attempts.erase(worker.id());
  note_end(worker, "it was no longer needed", turn);
  set_worker_state(worker, WorkerEvent::Expire, turn);
  destroy(worker, turn);
  making_.look_again();
}

uint32_t Engine::held_up(const std::string& provider) const {
  uint32_t count = 0;
  for (const auto& [id, attempt] : making_.attempts) {
    const auto worker = state_.workers().find(id);
    count += !attempt.held_up.empty() && worker != state_.workers().end() &&
             worker->second->record->info.made->provider == provider;
  }
  return count;
}

// One that is on its way out makes room soon: no second one is taken back for the same job.
bool Engine::place_is_coming(const std::string& provider) const {
  return std::any_of(state_.workers().begin(), state_.workers().end(), [&](const auto& entry) {
    const std::optional<Made>& made = entry.second->record->info.made;
    return made && made->provider == provider && entry.second->state == WorkerState::Terminating;
  });
}

// The one that has been held up longest, of a provider that would make a worker of this shape if it had room for it.
LiveWorker* Engine::stuck_in_the_way(const Shape& shape, Now now) {
  const PoolRow* pool = pool_of(shape);
  const bool pool_full = pool != nullptr && pool->max > 0 && pool_workers(pool->name) >= pool->max;
  LiveWorker* longest = nullptr;
  MonoTime since = now.mono;
  for (const auto& [id, attempt] : making_.attempts) {
    if (attempt.held_up.empty() || attempt.shape == shape.encoded || attempt.held_up_since >= since) continue;
    if (now.mono - attempt.held_up_since < kYieldAfter) continue;
    LiveWorker* worker = state_.worker(id);
    if (worker == nullptr || worker->state != WorkerState::Creating) continue;
    const Made& made = *worker->record->info.made;
    const auto found = state_.providers().find(made.provider);
    if (found == state_.providers().end()) continue;
    const LiveProvider& provider = found->second;
    if (pool_full ? made.pool != pool->name : provider.room() > 0) continue;  // it is not this one that is in the way
    if (provider.has_enough_jobs() || now.mono < provider.not_before || against(shape, provider, pool)) continue;
    const auto refusal = making_.refusals.find({made.provider, shape.encoded});
    if (refusal != making_.refusals.end() && refusal->second.is_final && now.mono < refusal->second.until) continue;
    longest = worker;
    since = attempt.held_up_since;
  }
  return longest;
}

bool Engine::yield_place(const Shape& shape, Now now, Turn& turn) {
  LiveWorker* stuck = stuck_in_the_way(shape, now);
  if (stuck == nullptr) return false;
  const Made made = *stuck->record->info.made;
  if (place_is_coming(made.provider)) return false;
  const Attempt& attempt = making_.attempts.at(stuck->id());
  const std::string why = cat("worker ", stuck->id().str(), " did not start (", attempt.held_up,
                              ") and was withdrawn, because its place was needed for other jobs");
  const auto pool = state_.pools().find(made.pool);
  const bool is_pools_own = attempt.shape.empty() && pool != state_.pools().end();
  // The place is not for another one like it: others come first for a while.
  refuse(made.provider, is_pools_own ? shape_of(pool->second).encoded : attempt.shape, MakingFailure::Shape, why, now);
  note_on_job(JobId{made.for_job}, cat("provider ", made.provider, ": ", why), turn);
  note_end(*stuck, why, turn);
  withdraw(*stuck, turn);
  return true;
}

// No worker that is there takes such a job, and every provider that could make one has failed for good.
bool Engine::is_unmakable(const WaitingShape& waiting, Now now) const {
  for (const WaitingShape::Eligible& e : waiting.eligible) {
    for (const LiveWorker* worker : e.kind->members) {
      if (worker->in_service() && worker->record->info.capacity.covers(waiting.shape->needs)) return false;
    }
  }
  bool hopeless = false;
  const PoolRow* pool = pool_of(*waiting.shape);
  for (const auto& [name, provider] : state_.providers()) {
    const auto refusal = making_.refusals.find({name, waiting.shape->encoded});
    if (refusal != making_.refusals.end() && refusal->second.is_final) {
      hopeless |= refusal->second.hopeless && now.mono - refusal->second.first >= config_.unmakable_limit;
    } else if (!against(*waiting.shape, provider, pool)) {
      return false;
    }
  }
  return hopeless;
}

void Engine::fail_unmakable(Now now, Turn& turn) {
  if (config_.unmakable_limit <= Duration(0)) return;
  std::map<JobId, std::string> lost;
  for (const auto& [key, refusal] : making_.refusals) {
    if (!refusal.hopeless) continue;
    const WaitingShape* waiting = state_.roster().shape(key.second);
    if (waiting == nullptr || !is_unmakable(*waiting, now)) continue;
    for (const Lane* lane : waiting->lanes) {
      for (const JobId job : lane->jobs) {
        if (lost.size() >= kJobsPerLook) break;
        if (steady_wall(now) - state_.job(job)->head->created < config_.unmakable_limit) continue;
        lost[job] = cat("provider ", key.first, " cannot create a worker for it: ", refusal.reason);
      }
    }
  }
  for (const auto& [job, why] : lost) {
    const LiveJob* live = state_.job(job);
    if (live == nullptr || live->where != LiveJob::Where::InLane) continue;
    Draft draft(*live->head);
    draft.past.failure = "provisioning_failed";
    draft.move(JobEvent::Fail, now.wall,
               cat(why, "; given up after ", config_.unmakable_limit.count() / 1'000'000, " s"));
    store(draft, now, turn);
  }
}

}  // namespace hodei::core
