// What providers tell of the workers that they make.
#include <algorithm>

#include "src/base/clip.h"
#include "src/base/status.h"
#include "src/core/engine.h"
#include "src/core/job/draft.h"
#include "src/core/placement/rules/rule.h"
#include "src/core/provision/prospect.h"

namespace hodei::core {
namespace {

constexpr Duration kFirstBackOff = 1s;
constexpr Duration kLongestBackOff = std::chrono::minutes(5);
constexpr Duration kNoRoomPause = 2s;
// A provider that cannot make such a worker is not asked for one again for this long; twice as long each time.
constexpr Duration kRefusalLife = std::chrono::minutes(2);
constexpr Duration kLongestRefusal = std::chrono::minutes(30);
// How much the newest start-up counts in the expected time.
constexpr double kNewest = 0.3;

bool is_made(const LiveWorker* worker) { return worker != nullptr && worker->record->info.made.has_value(); }

bool on_its_way(const LiveWorker& worker) {
  return worker.state == WorkerState::Creating || worker.state == WorkerState::Connecting;
}

}  // namespace

Engine::Answer Engine::on(const WorkerMade& c, Now, Turn& turn) {
  LiveWorker* worker = state_.worker(c.worker);
  if (!is_made(worker)) return absl::NotFoundError(cat("worker ", c.worker.str(), " does not exist"));
  if (worker->record->info.made->handle == c.handle) return Done{};
  auto record = std::make_shared<WorkerRecord>(*worker->record);
  record->info.made->handle = c.handle;
  write(PutWorker{record}, turn);
  return Done{};
}

Engine::Answer Engine::on(const WorkerRuns& c, Now now, Turn& turn) {
  LiveWorker* worker = state_.worker(c.worker);
  if (!is_made(worker)) return absl::NotFoundError(cat("worker ", c.worker.str(), " does not exist"));
  if (worker->state != WorkerState::Creating) return Done{};
  set_worker_state(*worker, WorkerEvent::Appear, turn);
  start_otps(c.worker, now, turn);
  making_.attempts[c.worker].deadline = now.mono + config_.registration_limit;
  return Done{};
}

Engine::Answer Engine::on(const WorkerHeldUp& c, Now now, Turn& turn) {
  LiveWorker* worker = state_.worker(c.worker);
  if (!is_made(worker)) return absl::NotFoundError(cat("worker ", c.worker.str(), " does not exist"));
  const auto attempt = making_.attempts.find(c.worker);
  if (attempt == making_.attempts.end() || !on_its_way(*worker)) return Done{};
  const std::string words(clip(c.reason, kMaxHeldUp));
  if (attempt->second.held_up == words) return Done{};
  if (attempt->second.held_up.empty()) attempt->second.held_up_since = now.mono;
  attempt->second.held_up = words;
  const Made& made = *worker->record->info.made;
  note_on_job(JobId{made.for_job}, being_made(made.provider, c.worker, words), turn);
  making_.look_again();  // others do not wait for it, or do again
  return Done{};
}

Engine::Answer Engine::on(const WorkerFailed& c, Now now, Turn& turn) {
  LiveWorker* worker = state_.worker(c.worker);
  if (!is_made(worker)) return absl::NotFoundError(cat("worker ", c.worker.str(), " does not exist"));
  if (worker->state == WorkerState::Terminating || worker->state == WorkerState::Terminated) return Done{};
  worker->end_reason = clip(c.reason, kMaxHeldUp);
  give_up(*worker, c.kind, c.reason, now, turn);
  return Done{};
}

Engine::Answer Engine::on(const WorkerDestroyed& c, Now now, Turn& turn) {
  LiveWorker* worker = state_.worker(c.worker);
  if (!is_made(worker) || worker->state == WorkerState::Terminated) return Done{};
  if (worker->connected) {
    turn.effects.push_back(DropStream{worker->id(), worker->stream, "destroyed by its provider"});
    worker->connected = false;
    state_.roster().refresh(worker);
  }
  if (worker->state != WorkerState::Terminating) set_worker_state(*worker, WorkerEvent::Leave, turn);
  making_.attempts.erase(c.worker);
  making_.idle_since.erase(c.worker);
  making_.leaving.erase(c.worker);
  // A provider may be wrong about what it ended. What ran there is given to others when the lease proves it dead.
  making_.gone.insert(c.worker);
  bury_gone(now, turn);
  return Done{};
}

void Engine::bury_gone(Now now, Turn& turn) {
  std::vector<WorkerId> empty;
  for (const WorkerId& id : making_.gone) {
    const LiveWorker* worker = state_.worker(id);
    if (worker == nullptr || worker->executions.empty()) empty.push_back(id);
  }
  for (const WorkerId& id : empty) {
    making_.gone.erase(id);
    LiveWorker* worker = state_.worker(id);
    if (worker == nullptr) continue;
    revoke_otps(id, turn);
    end_worker(*worker, WorkerEvent::Leave, "destroyed by its provider", now, turn);
    making_.ended.push_back(id);
    making_.look_again();
  }
  // What became of them can be asked for a while; not of all that a busy installation makes.
  while (making_.ended.size() > kMaxEndedWorkers) {
    const LiveWorker* oldest = state_.worker(making_.ended.front());
    if (oldest != nullptr && oldest->state == WorkerState::Terminated) write(DeleteWorker{oldest->id()}, turn);
    making_.ended.pop_front();
  }
}

Engine::Answer Engine::on(const Inventory& c, Now, Turn& turn) {
  if (!state_.providers().contains(c.provider)) return Done{};
  for (const Inventory::One& one : c.workers) {
    const LiveWorker* worker = state_.worker(one.worker);
    const bool ours = is_made(worker) && worker->record->info.made->provider == c.provider &&
                      worker->state != WorkerState::Terminated;
    if (!ours) turn.effects.push_back(DestroyWorker{c.provider, one.worker, one.handle});
  }
  return Done{};
}

void Engine::has_come(LiveWorker& worker, Now now, Turn& turn) {
  const auto attempt = making_.attempts.find(worker.id());
  if (attempt == making_.attempts.end()) return;
  const auto known = state_.providers().find(worker.record->info.made->provider);
  if (known != state_.providers().end()) {
    LiveProvider& provider = known->second;
    const Duration took = now.mono - attempt->second.asked;
    const bool first = provider.startup == Duration(0);
    provider.startup =
        first ? took
              : Duration(static_cast<int64_t>((1 - kNewest) * static_cast<double>(provider.startup.count()) +
                                              kNewest * static_cast<double>(took.count())));
    ++provider.created;
    provider.not_before = MonoTime{0};
  }
  const std::string shape = attempt->second.shape;
  making_.attempts.erase(attempt);
  making_.look_again();
  judge_made(worker, shape, now, turn);
  // The job that it was made for goes first, if it still waits.
  const JobId job{worker.record->info.made->for_job};
  const LiveJob* live = state_.job(job);
  if (live == nullptr || live->where != LiveJob::Where::InLane || !worker.available()) return;
  Lane* lane = live->lane;
  const Fit fit = fit_of(*lane->shape->shape, worker.record->info);
  if (!serves(worker.record->info, live->head->ns.str()) || first_rejection(*lane->shape->shape, worker.record->info))
    return;
  if (!state_.roster().fits(*lane, fit, worker)) return;
  if (key_is_full(*live->head, now) || !state_.roster().admits(*lane)) return;
  Decision decision = state_.roster().decision_for(*lane, worker, fit);
  state_.roster().served(lane);
  assign(job, worker, std::move(decision), now, turn);
}

// A worker that is not what it was ordered to be would leave its job waiting, and be ordered again and again.
void Engine::judge_made(const LiveWorker& worker, const std::string& shape, Now now, Turn& turn) {
  const WorkerInfo& info = worker.record->info;
  const std::string& provider = info.made->provider;
  if (!worker.unfit.empty()) return note_unfit(worker, shape, now, turn);
  if (shape.empty()) return;
  const Shape ordered = decode_shape(shape);
  std::string why;
  if (const std::optional<Rejection> no = first_rejection(ordered, info)) {
    why = no->reason;
  } else if (!is_kept(worker.rank, fit_of(ordered, info), state_.scheduler())) {
    why = "scores below the scheduler's threshold";
  } else {
    making_.refusals.erase({provider, shape});
    return;
  }
  const std::string words = cat("worker ", info.id.str(), ", which was created for such a job, ", why);
  if (const auto known = state_.providers().find(provider); known != state_.providers().end()) {
    back_off(known->second, MakingFailure::Shape, words, now);
  }
  refuse(provider, shape, MakingFailure::Shape, words, now);
  note_on_job(JobId{info.made->for_job}, cat("provider ", provider, " does not create a suitable worker: ", words),
              turn);
}

// Another one of the same provider would most likely be as unfit, and its job would have them made without end.
void Engine::note_unfit(const LiveWorker& worker, const std::string& shape, Now now, Turn& turn) {
  const Made& made = *worker.record->info.made;
  const std::string words = cat("worker ", worker.id().str(), ", which it created, is unfit: ", worker.unfit);
  if (const auto known = state_.providers().find(made.provider); known != state_.providers().end()) {
    back_off(known->second, MakingFailure::Trouble, words, now);
  }
  if (!shape.empty()) refuse(made.provider, shape, MakingFailure::Trouble, words, now);
  note_on_job(JobId{made.for_job}, cat("provider ", made.provider, " has trouble: ", words), turn);
}

void Engine::refuse(const std::string& provider, const std::string& shape, MakingFailure kind,
                    const std::string& reason, Now now) {
  const std::pair key(provider, shape);
  if (!making_.refusals.contains(key) && making_.refusals.size() >= kMaxRefusals) return;
  Refusal& refusal = making_.refusals[key];
  refusal.reason = reason;
  if (kind == MakingFailure::Room) {
    // It may be asked again at once; what it said is told meanwhile.
    refusal.until = std::max(refusal.until, now.mono);
    return;
  }
  const uint32_t doublings = std::min<uint32_t>(refusal.times++, 16);
  if (doublings == 0) refusal.first = now.mono;
  refusal.until = now.mono + std::min<Duration>(kRefusalLife * (int64_t{1} << doublings), kLongestRefusal);
  refusal.hopeless = kind == MakingFailure::Hopeless;
  refusal.is_final = refusal.hopeless || kind == MakingFailure::Shape;
}

void Engine::note_on_job(JobId job, std::string words, Turn& turn) {
  const LiveJob* live = state_.job(job);
  if (live == nullptr || live->where != LiveJob::Where::InLane) return;
  Draft draft(*live->head);
  draft.head.not_before = {};  // its back-off is over, or it would not be in a lane
  draft.past.reason = std::move(words);
  write(PutJob{draft.finish()}, turn);
}

void Engine::back_off(LiveProvider& provider, MakingFailure kind, const std::string& reason, Now now) {
  ++provider.failed;
  provider.last_failure = reason;
  switch (kind) {
    case MakingFailure::Shape:
    case MakingFailure::Hopeless: break;
    case MakingFailure::Room: provider.not_before = now.mono + kNoRoomPause; break;
    case MakingFailure::Trouble: {
      const uint32_t doublings = std::min<uint32_t>(provider.failures_in_a_row++, 16);
      provider.not_before = now.mono + std::min<Duration>(kFirstBackOff * (int64_t{1} << doublings), kLongestBackOff);
      break;
    }
  }
}

void Engine::give_up(LiveWorker& worker, MakingFailure kind, const std::string& reason, Now now, Turn& turn) {
  const std::string provider = worker.record->info.made->provider;
  const auto attempt = making_.attempts.find(worker.id());
  if (on_its_way(worker)) {
    if (const auto known = state_.providers().find(provider); known != state_.providers().end()) {
      back_off(known->second, kind, reason, now);
    }
    if (attempt != making_.attempts.end() && !attempt->second.shape.empty()) {
      refuse(provider, attempt->second.shape, kind, reason, now);
    }
    note_on_job(JobId{worker.record->info.made->for_job},
                cat("provider ", provider, " could not create a worker for it: ", clip(reason, kMaxHeldUp)), turn);
  }
  if (attempt != making_.attempts.end()) making_.attempts.erase(attempt);
  note_end(worker, reason, turn);
  set_worker_state(worker, on_its_way(worker) ? WorkerEvent::Expire : WorkerEvent::Leave, turn);
  destroy(worker, turn);
  making_.look_again();
}

void Engine::destroy(LiveWorker& worker, Turn& turn) {
  const Made& made = *worker.record->info.made;
  making_.leaving.erase(worker.id());
  turn.effects.push_back(DestroyWorker{made.provider, worker.id(), made.handle});
}

}  // namespace hodei::core
