#include "src/core/provision/withdrawals.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "src/base/outcome.h"
#include "src/base/status.h"
#include "src/core/provision/coming.h"
#include "src/core/provision/pools.h"
#include "src/core/provision/prospect.h"
#include "src/core/provision/providers.h"
#include "src/core/provision/setbacks.h"

namespace hodei::core {

int64_t Withdrawals::waiting_for(const std::string& shape, const std::string& ns, const Turn& turn) const {
  const WaitingShape* waiting = context_.placement.roster.shapes.find(shape);
  if (waiting == nullptr) return 0;
  const PoolRow* pool = context_.pools.of(*waiting->shape);
  int64_t jobs = 0;
  for (const Lane* lane : waiting->lanes) {
    const std::string served = pool != nullptr ? pool->ns : lane->tenant->ns.str();
    if (served == ns && !pool_against(pool, lane->tenant->ns.str()))
      jobs += context_.placement.demand.startable(*lane, turn);
  }
  return jobs;
}

// Of the workers that have not begun to run, the ones that are more than the jobs of their shape need: first those
// whose own job waits no longer, then those that are held up, then the newest.
std::vector<LiveWorker*> Withdrawals::surplus(const Turn& turn) const {
  using Group = std::pair<std::string, std::string>;  // shape, and whom they serve
  std::map<Group, std::vector<LiveWorker*>> groups;
  for (const auto& [id, attempt] : context_.making.attempts) {
    const auto worker = context_.fleet.workers.all().find(id);
    if (attempt.shape.empty() || worker == context_.fleet.workers.all().end()) continue;
    groups[{attempt.shape, worker->second->record->info.made->ns}].push_back(worker->second.get());
  }
  std::vector<LiveWorker*> out;
  for (auto& [group, workers] : groups) {
    int64_t slots = 0;
    for (const LiveWorker* worker : workers) slots += worker->record->info.slots;
    const int64_t wanted = std::max<int64_t>(0, waiting_for(group.first, group.second, turn));
    if (slots <= wanted) continue;
    const auto order = [this](const LiveWorker* worker) {
      const LiveJob* job = context_.jobs.table.find(JobId{worker->record->info.made->for_job});
      const bool is_waited_for = job != nullptr && job->where == LiveJob::Where::InLane;
      return std::tuple(is_waited_for, context_.making.attempts.at(worker->id()).held_up.empty(),
                        -worker->record->info.made->asked.us, worker->id());
    };
    std::sort(workers.begin(), workers.end(), [&](const auto* a, const auto* b) { return order(a) < order(b); });
    for (LiveWorker* worker : workers) {
      if (slots - worker->record->info.slots < wanted) break;
      if (worker->state != WorkerState::Creating || context_.pools.needs(*worker->record->info.made)) continue;
      slots -= worker->record->info.slots;
      out.push_back(worker);
    }
  }
  return out;
}

void Withdrawals::sweep_unwanted(Turn& turn) {
  if (context_.making.attempts.empty()) return;
  const std::vector<LiveWorker*> unwanted = surplus(turn);
  for (auto& [id, attempt] : context_.making.attempts) {
    const auto is_it = [&worker = id](const LiveWorker* w) { return w->id() == worker; };
    const bool is_wanted = std::none_of(unwanted.begin(), unwanted.end(), is_it);
    if (is_wanted) {
      attempt.unwanted_since = MonoTime{0};
    } else if (!attempt.unwanted_since.is_set()) {
      attempt.unwanted_since = turn.mono();
    }
  }
  for (LiveWorker* worker : unwanted) {
    if (turn.mono() - context_.making.attempts.at(worker->id()).unwanted_since >= kWithdrawAfter)
      context_.setbacks.withdraw(*worker, turn);
  }
}

// One that is on its way out makes room soon: no second one is taken back for the same job.
bool Withdrawals::place_is_coming(const std::string& provider) const {
  return std::any_of(context_.fleet.workers.all().begin(), context_.fleet.workers.all().end(), [&](const auto& entry) {
    const std::optional<Made>& made = entry.second->record->info.made;
    return made && made->provider == provider && entry.second->state == WorkerState::Terminating;
  });
}

// The one that has been held up longest, of a provider that would make a worker of this shape if it had room for it.
LiveWorker* Withdrawals::stuck_in_the_way(const Shape& shape, const Turn& turn) {
  const PoolRow* pool = context_.pools.of(shape);
  const bool pool_full = context_.pools.is_full(pool);
  LiveWorker* longest = nullptr;
  MonoTime since = turn.mono();
  for (const auto& [id, attempt] : context_.making.attempts) {
    if (attempt.held_up.empty() || attempt.shape == shape.encoded || attempt.held_up_since >= since) continue;
    if (turn.mono() - attempt.held_up_since < kYieldAfter) continue;
    LiveWorker* worker = context_.fleet.workers.find(id);
    if (worker == nullptr || worker->state != WorkerState::Creating) continue;
    const Made& made = *worker->record->info.made;
    const auto found = context_.providers.all().find(made.provider);
    if (found == context_.providers.all().end()) continue;
    const LiveProvider& provider = found->second;
    if (pool_full ? made.pool != pool->name : provider.room() > 0) continue;  // it is not this one that is in the way
    if (provider.has_enough_jobs() || turn.mono() < provider.not_before || against(shape, provider, pool)) continue;
    const auto refusal = context_.making.refusals.find({made.provider, shape.encoded});
    if (refusal != context_.making.refusals.end() && refusal->second.is_final && turn.mono() < refusal->second.until)
      continue;
    longest = worker;
    since = attempt.held_up_since;
  }
  return longest;
}

bool Withdrawals::yield_place(const Shape& shape, Turn& turn) {
  LiveWorker* stuck = stuck_in_the_way(shape, turn);
  if (stuck == nullptr) return false;
  const Made made = *stuck->record->info.made;
  if (place_is_coming(made.provider)) return false;
  const Attempt& attempt = context_.making.attempts.at(stuck->id());
  const std::string why = cat("worker ", stuck->id().str(), " did not start (", attempt.held_up,
                              ") and was withdrawn, because its place was needed for other jobs");
  const auto pool = context_.pools.all().find(made.pool);
  const bool is_pools_own = attempt.shape.empty() && pool != context_.pools.all().end();
  // The place is not for another one like it: others come first for a while.
  context_.setbacks.refuse(made.provider, is_pools_own ? shape_of(pool->second).encoded : attempt.shape,
                           MakingFailure::Shape, why, turn);
  context_.jobs.moves.note(JobId{made.for_job}, cat("provider ", made.provider, ": ", why), turn);
  context_.fleet.workers.note_end(*stuck, why, turn);
  context_.setbacks.withdraw(*stuck, turn);
  return true;
}

// No worker that is there takes such a job, and every provider that could make one has failed for good.
bool Withdrawals::is_unmakable(const WaitingShape& waiting, const Turn& turn) const {
  for (const WaitingShape::Eligible& e : waiting.eligible) {
    for (const LiveWorker* worker : e.kind->members) {
      if (worker->in_service() && worker->record->info.capacity.covers(waiting.shape->needs)) return false;
    }
  }
  bool hopeless = false;
  const PoolRow* pool = context_.pools.of(*waiting.shape);
  for (const auto& [name, provider] : context_.providers.all()) {
    const auto refusal = context_.making.refusals.find({name, waiting.shape->encoded});
    if (refusal != context_.making.refusals.end() && refusal->second.is_final) {
      hopeless |= refusal->second.hopeless && turn.mono() - refusal->second.first >= context_.config.unmakable_limit;
    } else if (!against(*waiting.shape, provider, pool)) {
      return false;
    }
  }
  return hopeless;
}

void Withdrawals::fail_unmakable(Turn& turn) {
  if (context_.config.unmakable_limit <= Duration(0)) return;
  std::map<JobId, std::string> lost;
  for (const auto& [key, refusal] : context_.making.refusals) {
    if (!refusal.hopeless) continue;
    const WaitingShape* waiting = context_.placement.roster.shapes.find(key.second);
    if (waiting == nullptr || !is_unmakable(*waiting, turn)) continue;
    for (const Lane* lane : waiting->lanes) {
      for (const JobId job : lane->jobs) {
        if (lost.size() >= Demand::kJobsPerLook) break;
        if (turn.steady() - context_.jobs.table.find(job)->head->created < context_.config.unmakable_limit) continue;
        lost[job] = cat("provider ", key.first, " cannot create a worker for it: ", refusal.reason);
      }
    }
  }
  for (const auto& [job, why] : lost) {
    context_.jobs.endings.fail(job, Failure::ProvisioningFailed,
                               cat(why, "; given up after ", context_.config.unmakable_limit.count() / 1'000'000, " s"),
                               turn);
  }
}

}  // namespace hodei::core
