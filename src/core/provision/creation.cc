#include "src/core/provision/creation.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/core/provision/coming.h"
#include "src/core/provision/pools.h"
#include "src/core/provision/prospect.h"
#include "src/core/provision/setbacks.h"
#include "src/core/provision/withdrawals.h"

namespace hodei::core {
namespace {

// After a start: workers that people started are waited for this long before others are made in their place.
constexpr Duration kReturnTime = 5s;

// Fit for the name of a host or a file, whatever the provider is called.
std::string id_of(const std::string& provider, uint64_t number) {
  std::string id;
  for (const char c : provider) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    id.push_back(upper ? static_cast<char>(c - 'A' + 'a') : plain ? c : '-');
  }
  return cat(id, "-", short_id(JobId{number}).substr(1));
}

}  // namespace

void Creation::want(const Lane& lane) {
  if (context_.providers.all().empty()) return;
  context_.making.wanted.insert(lane.shape->ordinal);
  if (!context_.making.content.contains(lane.shape->ordinal)) context_.making.due = true;
}

void Creation::want_all() {
  context_.placement.roster.lanes.each([this](const Lane& lane) { want(lane); });
}

void Creation::look(Turn& turn) {
  if (!context_.making.resumed) resume_making(turn);
  if (!context_.making.due) return;
  context_.making.due = false;
  auto at = context_.making.wanted.lower_bound(context_.making.next_shape);
  const size_t most = std::min(kShapesPerLook, context_.making.wanted.size());
  for (size_t looked = 0; looked < most; ++looked) {
    if (at == context_.making.wanted.end()) at = context_.making.wanted.begin();
    const WaitingShape* shape = context_.placement.roster.shapes.find(*at);
    if (shape == nullptr || shape->lanes.empty()) {
      context_.making.content.erase(*at);
      at = context_.making.wanted.erase(at);
      continue;
    }
    if (!context_.making.content.contains(*at)) make_for(*shape, turn);
    ++at;
  }
  context_.making.next_shape = at == context_.making.wanted.end() ? 0 : *at;
}

void Creation::resume_making(Turn& turn) {
  context_.making.resumed = true;
  for (const auto& [id, worker] : context_.fleet.workers.all()) {
    if (!worker->record->info.made) continue;
    switch (worker->state) {
      case WorkerState::Creating:
        // Whether it was ever begun, nobody knows: whatever there is goes, and who still needs one gets another.
        context_.fleet.workers.note_end(*worker, "the server restarted while it was being created", turn);
        context_.fleet.workers.move(*worker, WorkerEvent::Expire, turn);
        context_.setbacks.destroy(*worker, turn);
        break;
      case WorkerState::Connecting: {
        const LiveJob* job = context_.jobs.table.find(JobId{worker->record->info.made->for_job});
        context_.making.attempts[id] = {turn.mono(), turn.mono() + context_.config.registration_limit,
                                        job == nullptr ? std::string() : job->head->shape->encoded};
        break;
      }
      case WorkerState::Terminating: context_.setbacks.destroy(*worker, turn); break;
      case WorkerState::Terminated: context_.making.ended.push_back(id); break;
      default: break;
    }
  }
  want_all();
}

bool Creation::waits_for_standing_worker(const WaitingShape& shape, const Turn& turn) const {
  if (!shape.shape->provider.empty() || context_.pools.of(*shape.shape) != nullptr) return false;
  for (const WaitingShape::Eligible& e : shape.eligible) {
    for (const LiveWorker* worker : e.kind->members) {
      // Away for a moment is not gone.
      // And one that was stopped with the server comes back with it.
      const bool may_return = takes_work(worker->state) && turn.mono() - loaded_ < kReturnTime;
      const bool stands = !worker->record->info.made && (worker->in_service() || may_return) && worker->is_well();
      if (stands && worker->record->info.capacity.covers(shape.shape->needs)) return true;
    }
  }
  return false;
}

// A worker serves the namespace that it was made for, so each namespace that waits is counted by itself; the workers of
// a pool serve whom the pool says. What can be made goes to the oldest jobs first, whosever they are.
void Creation::make_for(const WaitingShape& waiting, Turn& turn) {
  const Shape& shape = *waiting.shape;
  const PoolRow* pool = context_.pools.of(shape);
  const auto served = [pool](const Lane& lane) { return pool != nullptr ? pool->ns : lane.tenant->ns.str(); };
  std::map<std::string, int64_t> jobs;  // that wait, by whom their worker would serve
  for (const Lane* lane : waiting.lanes) {
    if (!pool_against(pool, lane->tenant->ns.str()))
      jobs[served(*lane)] += context_.placement.demand.startable(*lane, turn);
  }
  const bool is_wanted = std::any_of(jobs.begin(), jobs.end(), [](const auto& entry) { return entry.second > 0; });
  if (is_wanted && context_.creation.waits_for_standing_worker(waiting, turn)) {
    context_.making.content.insert(waiting.ordinal);
    return;
  }
  for (auto& [ns, count] : jobs) {
    if (count > 0) count -= context_.coming.slots_for(shape, ns);
  }
  for (;;) {
    std::vector<const Lane*> lanes;  // collected anew each time: a job that is written again may get a new lane
    for (const Lane* lane : waiting.lanes) {
      const auto count = jobs.find(served(*lane));
      if (count != jobs.end() && count->second > 0 && !pool_against(pool, lane->tenant->ns.str()))
        lanes.push_back(lane);
    }
    if (lanes.empty()) return;
    LiveProvider* provider = choose_provider(shape, turn);
    if (provider == nullptr) {
      if (!context_.withdrawals.yield_place(shape, turn)) context_.making.content.insert(waiting.ordinal);
      return;
    }
    const JobId job = context_.coming.unclaimed(lanes);
    const std::string ns = served(job == JobId{} ? *lanes.front() : *context_.jobs.table.find(job)->lane);
    jobs.at(ns) -= prospect(shape, *provider, pool).slots;
    make_worker(shape, *provider, job, ns, turn);
  }
}

LiveProvider* Creation::choose_provider(const Shape& shape, const Turn& turn) {
  const PoolRow* pool = context_.pools.of(shape);
  if (context_.pools.is_full(pool)) return nullptr;
  LiveProvider* best = nullptr;
  LiveProvider* again = nullptr;  // it failed for such a job, and is asked again when nobody else can
  for (auto& [name, provider] : context_.providers.all()) {
    if (against(shape, provider, pool) || not_now(provider, context_.coming.starting(name), turn.mono())) continue;
    if (context_.coming.too_many_held_up(name, shape)) continue;
    const auto refusal = context_.making.refusals.find({name, shape.encoded});
    const bool failed = refusal != context_.making.refusals.end() && turn.mono() < refusal->second.until;
    if (failed && refusal->second.is_final) continue;
    LiveProvider*& first = failed ? again : best;
    if (first == nullptr || asked_before(shape, provider, *first)) first = &provider;
  }
  return best != nullptr ? best : again;
}

void Creation::make_worker(const Shape& shape, LiveProvider& provider, JobId job, const std::string& ns, Turn& turn) {
  const PoolRow* pool = context_.pools.of(shape);
  uint64_t number = context_.jobs.table.next_number();
  // Somebody may have given such an id to a worker of their own.
  while (context_.fleet.workers.find(WorkerId(id_of(provider.row.name, number))) != nullptr) ++number;
  turn.write(PutNextJob{number + 1});
  auto record = std::make_shared<WorkerRecord>();
  record->info = prospect(shape, provider, pool);
  record->info.id = WorkerId(id_of(provider.row.name, number));
  record->info.name = record->info.id.str();
  record->state = WorkerState::Creating;
  record->registered = turn.wall();
  Made made;
  made.provider = provider.row.name;
  made.pool = pool != nullptr ? pool->name : "";
  made.for_job = hodei::number(job);
  made.one_job = is_for_one_job(provider, pool);
  made.ns = ns;
  made.asked = turn.wall();
  record->info.made = std::move(made);
  turn.write(Put<WorkerRecord>{record});
  LiveWorker& worker = *context_.fleet.workers.find(record->info.id);
  worker.last_seen = turn.mono();
  worker.last_seen_wall = turn.wall();
  context_.making.attempts[record->info.id] = {turn.mono(), turn.mono() + context_.config.making_limit,
                                               job == JobId{} ? "" : shape.encoded};
  turn.tell(CreateWorker{record});
  if (job == JobId{}) return;
  context_.jobs.moves.note(job, being_made(provider.row.name, record->info.id), turn);
}

void Creation::keep_pools(Turn& turn) {
  for (const auto& [name, pool] : context_.pools.all()) {
    if (pool.min == 0 && pool.spare == 0) continue;
    uint32_t all = 0, ready = 0;
    for (const auto& [id, worker] : context_.fleet.workers.all()) {
      const std::optional<Made>& made = worker->record->info.made;
      if (!made || made->pool != name) continue;
      const bool coming = worker->state == WorkerState::Creating || worker->state == WorkerState::Connecting;
      all += coming || worker->in_service();
      // One that comes for a job will not be idle.
      ready += (coming && made->for_job == 0) || (worker->state == WorkerState::Ready && worker->executions.empty());
    }
    const Shape shape = shape_of(pool);
    while ((all < pool.min || ready < pool.spare) && (pool.max == 0 || all < pool.max)) {
      LiveProvider* provider = choose_provider(shape, turn);
      if (provider == nullptr) break;
      make_worker(shape, *provider, JobId{}, pool.ns, turn);
      ++all;
      ++ready;
    }
  }
}

}  // namespace hodei::core
