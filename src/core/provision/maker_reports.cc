#include "src/core/provision/maker_reports.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "src/base/clip.h"
#include "src/base/status.h"
#include "src/core/placement/rules/rule.h"
#include "src/core/provision/prospect.h"
#include "src/core/provision/providers.h"
#include "src/core/provision/setbacks.h"

namespace hodei::core {
namespace {

// How much the newest start-up counts in the expected time.
constexpr double kNewest = 0.3;

bool is_made(const LiveWorker* worker) { return worker != nullptr && worker->record->info.made.has_value(); }

}  // namespace

Answer MakerReports::decide(const WorkerMade& c, Turn& turn) {
  LiveWorker* worker = context_.fleet.workers.find(c.worker);
  if (!is_made(worker)) return absl::NotFoundError(cat("worker ", c.worker.str(), " does not exist"));
  if (worker->record->info.made->handle == c.handle) return Done{};
  auto record = std::make_shared<WorkerRecord>(*worker->record);
  record->info.made->handle = c.handle;
  turn.write(Put<WorkerRecord>{record});
  return Done{};
}

Answer MakerReports::decide(const WorkerRuns& c, Turn& turn) {
  LiveWorker* worker = context_.fleet.workers.find(c.worker);
  if (!is_made(worker)) return absl::NotFoundError(cat("worker ", c.worker.str(), " does not exist"));
  if (worker->state != WorkerState::Creating) return Done{};
  context_.fleet.workers.move(*worker, WorkerEvent::Appear, turn);
  context_.fleet.tokens.start(c.worker, turn);
  context_.making.attempts[c.worker].deadline = turn.mono() + context_.config.registration_limit;
  return Done{};
}

Answer MakerReports::decide(const WorkerHeldUp& c, Turn& turn) {
  LiveWorker* worker = context_.fleet.workers.find(c.worker);
  if (!is_made(worker)) return absl::NotFoundError(cat("worker ", c.worker.str(), " does not exist"));
  const auto attempt = context_.making.attempts.find(c.worker);
  if (attempt == context_.making.attempts.end() || !worker->is_on_its_way()) return Done{};
  const std::string reason(clip(c.reason, kMaxHeldUp));
  if (attempt->second.held_up == reason) return Done{};
  if (attempt->second.held_up.empty()) attempt->second.held_up_since = turn.mono();
  attempt->second.held_up = reason;
  const Made& made = *worker->record->info.made;
  context_.jobs.moves.note(JobId{made.for_job}, being_made(made.provider, c.worker, reason), turn);
  context_.making.look_again();  // others do not wait for it, or do again
  return Done{};
}

Answer MakerReports::decide(const WorkerFailed& c, Turn& turn) {
  LiveWorker* worker = context_.fleet.workers.find(c.worker);
  if (!is_made(worker)) return absl::NotFoundError(cat("worker ", c.worker.str(), " does not exist"));
  if (worker->state == WorkerState::Terminating || worker->state == WorkerState::Terminated) return Done{};
  worker->end_reason = clip(c.reason, kMaxHeldUp);
  context_.setbacks.give_up(*worker, c.kind, c.reason, turn);
  return Done{};
}

Answer MakerReports::decide(const WorkerDestroyed& c, Turn& turn) {
  LiveWorker* worker = context_.fleet.workers.find(c.worker);
  if (!is_made(worker) || worker->state == WorkerState::Terminated) return Done{};
  if (worker->connected) {
    turn.tell(DropStream{worker->id(), worker->stream, "destroyed by its provider"});
    worker->connected = false;
    context_.placement.roster.workers.refresh(worker);
  }
  if (worker->state != WorkerState::Terminating) context_.fleet.workers.move(*worker, WorkerEvent::Leave, turn);
  context_.making.attempts.erase(c.worker);
  context_.making.idle_since.erase(c.worker);
  context_.making.leaving.erase(c.worker);
  // A provider may be wrong about what it ended. What ran there is given to others when the lease proves it dead.
  context_.making.gone.insert(c.worker);
  bury_gone(turn);
  return Done{};
}

void MakerReports::bury_gone(Turn& turn) {
  std::vector<WorkerId> empty;
  for (const WorkerId& id : context_.making.gone) {
    const LiveWorker* worker = context_.fleet.workers.find(id);
    if (worker == nullptr || worker->executions.empty()) empty.push_back(id);
  }
  for (const WorkerId& id : empty) {
    context_.making.gone.erase(id);
    LiveWorker* worker = context_.fleet.workers.find(id);
    if (worker == nullptr) continue;
    context_.fleet.tokens.revoke(id, turn);
    context_.fleet.workers.end(*worker, WorkerEvent::Leave, "destroyed by its provider", turn);
    context_.making.ended.push_back(id);
    context_.making.look_again();
  }
  // What became of them can be asked for a while; not of all that a busy installation makes.
  while (context_.making.ended.size() > kMaxEndedWorkers) {
    const LiveWorker* oldest = context_.fleet.workers.find(context_.making.ended.front());
    if (oldest != nullptr && oldest->state == WorkerState::Terminated) turn.write(Erase<WorkerRecord>{oldest->id()});
    context_.making.ended.pop_front();
  }
}

Answer MakerReports::decide(const Inventory& c, Turn& turn) {
  if (!context_.providers.all().contains(c.provider)) return Done{};
  for (const Inventory::One& one : c.workers) {
    const LiveWorker* worker = context_.fleet.workers.find(one.worker);
    const bool ours = is_made(worker) && worker->record->info.made->provider == c.provider &&
                      worker->state != WorkerState::Terminated;
    if (!ours) turn.tell(DestroyWorker{c.provider, one.worker, one.handle});
  }
  return Done{};
}

void MakerReports::has_come(LiveWorker& worker, Turn& turn) {
  const auto attempt = context_.making.attempts.find(worker.id());
  if (attempt == context_.making.attempts.end()) return;
  const auto known = context_.providers.all().find(worker.record->info.made->provider);
  if (known != context_.providers.all().end()) {
    LiveProvider& provider = known->second;
    const Duration took = turn.mono() - attempt->second.asked;
    const bool first = provider.startup == Duration(0);
    provider.startup =
        first ? took
              : Duration(static_cast<int64_t>((1 - kNewest) * static_cast<double>(provider.startup.count()) +
                                              kNewest * static_cast<double>(took.count())));
    ++provider.created;
    provider.not_before = MonoTime{0};
  }
  const std::string shape = attempt->second.shape;
  context_.making.attempts.erase(attempt);
  context_.making.look_again();
  judge_made(worker, shape, turn);
  // The job that it was made for goes first, if it still waits.
  context_.placement.placer.place_on(JobId{worker.record->info.made->for_job}, worker, turn);
}

// A worker that is not what it was ordered to be would leave its job waiting, and be ordered again and again.
void MakerReports::judge_made(const LiveWorker& worker, const std::string& shape, Turn& turn) {
  const WorkerInfo& info = worker.record->info;
  const std::string& provider = info.made->provider;
  if (!worker.unfit.empty()) return context_.setbacks.note_unfit(worker, shape, turn);
  if (shape.empty()) return;
  const Shape ordered = decode_shape(shape);
  std::string why;
  if (const std::optional<Rejection> no = first_rejection(ordered, info)) {
    why = no->reason;
  } else if (!is_kept(worker.rank, fit_of(ordered, info), context_.placement.scheduler.config())) {
    why = "scores below the scheduler's threshold";
  } else {
    context_.making.refusals.erase({provider, shape});
    return;
  }
  const std::string reason = cat("worker ", info.id.str(), ", which was created for such a job, ", why);
  context_.setbacks.back_off(provider, MakingFailure::Shape, reason, turn);
  context_.setbacks.refuse(provider, shape, MakingFailure::Shape, reason, turn);
  context_.jobs.moves.note(JobId{info.made->for_job},
                           cat("provider ", provider, " does not create a suitable worker: ", reason), turn);
}

}  // namespace hodei::core
