// Workers for what waits and fits nowhere.
//
// A lane that finds no worker is wanted. At the end of every decision the wanted shapes are looked at: as many workers
// are asked for as there are jobs that neither a standing worker nor one on its way will take. Nothing here costs
// anything where there are no providers.
#include <algorithm>

#include "src/base/status.h"
#include "src/core/engine.h"
#include "src/core/job/draft.h"
#include "src/core/placement/rules/rule.h"
#include "src/core/provision/prospect.h"

namespace hodei::core {
namespace {

// After a start: workers that people started are waited for this long before others are made in their place.
constexpr Duration kReturnTime = 5s;

bool is_being_made(const LiveWorker& worker) {
  return worker.record->info.made && (worker.state == WorkerState::Creating || worker.state == WorkerState::Connecting);
}

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

void Engine::want(const Lane& lane) {
  if (state_.providers().empty()) return;
  making_.wanted.insert(lane.shape->ordinal);
  if (!making_.content.contains(lane.shape->ordinal)) making_.due = true;
}

void Engine::provision(Now now, Turn& turn) {
  if (!making_.resumed) resume_making(now, turn);
  if (!making_.due) return;
  making_.due = false;
  auto at = making_.wanted.lower_bound(making_.next_shape);
  const size_t most = std::min(kShapesPerLook, making_.wanted.size());
  for (size_t looked = 0; looked < most; ++looked) {
    if (at == making_.wanted.end()) at = making_.wanted.begin();
    const WaitingShape* shape = state_.roster().shape(*at);
    if (shape == nullptr || shape->lanes.empty()) {
      making_.content.erase(*at);
      at = making_.wanted.erase(at);
      continue;
    }
    if (!making_.content.contains(*at)) make_for(*shape, now, turn);
    ++at;
  }
  making_.next_shape = at == making_.wanted.end() ? 0 : *at;
}

void Engine::resume_making(Now now, Turn& turn) {
  making_.resumed = true;
  for (const auto& [id, worker] : state_.workers()) {
    if (!worker->record->info.made) continue;
    switch (worker->state) {
      case WorkerState::Creating:
        // Whether it was ever begun, nobody knows: whatever there is goes, and who still needs one gets another.
        note_end(*worker, "the server restarted while it was being created", turn);
        set_worker_state(*worker, WorkerEvent::Expire, turn);
        destroy(*worker, turn);
        break;
      case WorkerState::Connecting: {
        const LiveJob* job = state_.job(JobId{worker->record->info.made->for_job});
        making_.attempts[id] = {now.mono, now.mono + config_.registration_limit,
                                job == nullptr ? std::string() : job->head->shape->encoded};
        break;
      }
      case WorkerState::Terminating: destroy(*worker, turn); break;
      case WorkerState::Terminated: making_.ended.push_back(id); break;
      default: break;
    }
  }
  state_.roster().each_lane([this](const Lane& lane) { want(lane); });
}

const PoolRow* Engine::pool_of(const Shape& shape) const {
  const auto it = state_.pools().find(shape.pool);
  return it == state_.pools().end() ? nullptr : &it->second;
}

// A worker that somebody started and that could take such a job when it has room: then nothing is made, unless the job
// names who is to make its worker.
bool Engine::waits_for_standing_worker(const WaitingShape& shape, Now now) const {
  if (!shape.shape->provider.empty() || pool_of(*shape.shape) != nullptr) return false;
  for (const WaitingShape::Eligible& e : shape.eligible) {
    for (const LiveWorker* worker : e.kind->members) {
      // Away for a moment is not gone.
      // And one that was stopped with the server comes back with it.
      const bool may_return = takes_work(worker->state) && now.mono - loaded_.mono < kReturnTime;
      const bool stands = !worker->record->info.made && (worker->in_service() || may_return) && worker->is_well();
      if (stands && worker->record->info.capacity.covers(shape.shape->needs)) return true;
    }
  }
  return false;
}

// What is made for a job of another shape is that job's: it may be much larger, and take much longer to come. Only the
// slots that it does not need are counted, and none of a worker that is held up.
uint32_t Engine::coming_for(const Shape& shape, const std::string& ns) const {
  uint32_t slots = 0;
  for (const auto& [id, attempt] : making_.attempts) {
    const auto worker = state_.workers().find(id);
    if (worker == state_.workers().end() || !is_being_made(*worker->second)) continue;
    const WorkerInfo& info = worker->second->record->info;
    if (!serves(info, ns) || first_rejection(shape, info)) continue;
    if (attempt.shape.empty() || attempt.shape == shape.encoded) {
      slots += info.slots;
    } else if (attempt.held_up.empty()) {
      slots += info.slots - 1;
    }
  }
  return slots;
}

uint32_t Engine::starting(const std::string& provider) const {
  uint32_t count = 0;
  for (const auto& [id, attempt] : making_.attempts) {
    const auto worker = state_.workers().find(id);
    count += worker != state_.workers().end() && worker->second->record->info.made->provider == provider &&
             attempt.held_up.empty();
  }
  return count;
}

// Those that are held up keep nobody waiting but their like.
bool Engine::too_many_held_up(const std::string& provider, const Shape& shape) const {
  uint32_t count = 0;
  bool is_alike = false;
  for (const auto& [id, attempt] : making_.attempts) {
    const auto worker = state_.workers().find(id);
    if (attempt.held_up.empty() || worker == state_.workers().end() ||
        worker->second->record->info.made->provider != provider)
      continue;
    ++count;
    is_alike |= attempt.shape == shape.encoded;
  }
  return is_alike && count >= kMaxHeldUpWorkers;
}

uint32_t Engine::pool_workers(const std::string& pool) const {
  uint32_t count = 0;
  for (const auto& [id, worker] : state_.workers()) {
    const std::optional<Made>& made = worker->record->info.made;
    count += made && made->pool == pool && worker->state != WorkerState::Terminated;
  }
  return count;
}

// Jobs of a lane that could start if there were workers: no more than its tenant may have, nor than their keys admit,
// and not those for which others are put back.
int64_t Engine::startable(const Lane& lane, Now now) const {
  const Tenant& tenant = *lane.tenant;
  const int64_t most = tenant.has_quota() ? tenant.room(lane.shape->shape->needs) : INT64_MAX;
  const auto room_is_made = static_cast<int64_t>(reservations_.preempting(lane.key()));
  std::map<std::string, int64_t> keys;
  int64_t jobs = 0;
  size_t looked = 0;
  for (const JobId job : lane.jobs) {
    if (jobs >= most || looked == kJobsPerLook) break;
    ++looked;
    const JobHead& head = *state_.job(job)->head;
    if (!head.concurrency_key.empty()) {
      const KeyState* key = state_.keys().find(head.ns.str(), head.concurrency_key);
      int64_t& left = keys.try_emplace(head.concurrency_key, key == nullptr ? 1 : key->room(now.mono)).first->second;
      if (left-- <= 0) continue;
    }
    ++jobs;
  }
  return std::min(most, jobs) - room_is_made;
}

// A worker serves the namespace that it was made for, so each namespace that waits is counted by itself; the workers of
// a pool serve whom the pool says. What can be made goes to the oldest jobs first, whosever they are.
void Engine::make_for(const WaitingShape& waiting, Now now, Turn& turn) {
  const Shape& shape = *waiting.shape;
  const PoolRow* pool = pool_of(shape);
  const auto served = [pool](const Lane& lane) { return pool != nullptr ? pool->ns : lane.tenant->ns.str(); };
  std::map<std::string, int64_t> jobs;  // that wait, by whom their worker would serve
  for (const Lane* lane : waiting.lanes) {
    if (!pool_against(pool, lane->tenant->ns.str())) jobs[served(*lane)] += startable(*lane, now);
  }
  const bool is_wanted = std::any_of(jobs.begin(), jobs.end(), [](const auto& entry) { return entry.second > 0; });
  if (is_wanted && waits_for_standing_worker(waiting, now)) {
    making_.content.insert(waiting.ordinal);
    return;
  }
  for (auto& [ns, count] : jobs) {
    if (count > 0) count -= coming_for(shape, ns);
  }
  for (;;) {
    std::vector<const Lane*> lanes;  // collected anew each time: a job that is written again may get a new lane
    for (const Lane* lane : waiting.lanes) {
      const auto count = jobs.find(served(*lane));
      if (count != jobs.end() && count->second > 0 && !pool_against(pool, lane->tenant->ns.str()))
        lanes.push_back(lane);
    }
    if (lanes.empty()) return;
    LiveProvider* provider = choose_provider(shape, now);
    if (provider == nullptr) {
      if (!yield_place(shape, now, turn)) making_.content.insert(waiting.ordinal);
      return;
    }
    const JobId job = unclaimed(lanes);
    const std::string ns = served(job == JobId{} ? *lanes.front() : *state_.job(job)->lane);
    jobs.at(ns) -= prospect(shape, *provider, pool).slots;
    make_worker(shape, *provider, job, ns, now, turn);
  }
}

LiveProvider* Engine::choose_provider(const Shape& shape, Now now) {
  const PoolRow* pool = pool_of(shape);
  if (pool != nullptr && pool->max > 0 && pool_workers(pool->name) >= pool->max) return nullptr;
  LiveProvider* best = nullptr;
  LiveProvider* again = nullptr;  // it failed for such a job, and is asked again when nobody else can
  for (auto& [name, provider] : state_.providers()) {
    if (against(shape, provider, pool) || not_now(provider, starting(name), now.mono)) continue;
    if (too_many_held_up(name, shape)) continue;
    const auto refusal = making_.refusals.find({name, shape.encoded});
    const bool failed = refusal != making_.refusals.end() && now.mono < refusal->second.until;
    if (failed && refusal->second.is_final) continue;
    LiveProvider*& first = failed ? again : best;
    if (first == nullptr || asked_before(shape, provider, *first)) first = &provider;
  }
  return best != nullptr ? best : again;
}

// The first job of these lanes that no worker on its way is for.
JobId Engine::unclaimed(const std::vector<const Lane*>& lanes) const {
  std::set<JobId> claimed;
  for (const auto& [id, attempt] : making_.attempts) {
    const auto worker = state_.workers().find(id);
    if (worker != state_.workers().end()) claimed.insert(JobId{worker->second->record->info.made->for_job});
  }
  JobId first{};
  for (const Lane* lane : lanes) {
    if (!state_.roster().admits(*lane)) continue;
    for (const JobId job : lane->jobs) {
      if (claimed.contains(job)) continue;
      if (first == JobId{} || job < first) first = job;
      break;
    }
  }
  return first;
}

void Engine::make_worker(const Shape& shape, LiveProvider& provider, JobId job, const std::string& ns, Now now,
                         Turn& turn) {
  const PoolRow* pool = pool_of(shape);
  uint64_t number = state_.next_job();
  // Somebody may have given such an id to a worker of their own.
  while (state_.worker(WorkerId(id_of(provider.row.name, number))) != nullptr) ++number;
  write(PutNextJob{number + 1}, turn);
  auto record = std::make_shared<WorkerRecord>();
  record->info = prospect(shape, provider, pool);
  record->info.id = WorkerId(id_of(provider.row.name, number));
  record->info.name = record->info.id.str();
  record->state = WorkerState::Creating;
  record->registered = now.wall;
  Made made;
  made.provider = provider.row.name;
  made.pool = pool != nullptr ? pool->name : "";
  made.for_job = hodei::number(job);
  made.one_job = is_for_one_job(provider, pool);
  made.ns = ns;
  made.asked = now.wall;
  record->info.made = std::move(made);
  write(PutWorker{record}, turn);
  LiveWorker& worker = *state_.worker(record->info.id);
  worker.last_seen = now.mono;
  worker.last_seen_wall = now.wall;
  making_.attempts[record->info.id] = {now.mono, now.mono + config_.making_limit, job == JobId{} ? "" : shape.encoded};
  turn.effects.push_back(CreateWorker{record});
  if (job == JobId{}) return;
  note_on_job(job, being_made(provider.row.name, record->info.id), turn);
}

}  // namespace hodei::core
