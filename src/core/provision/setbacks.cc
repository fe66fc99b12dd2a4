#include "src/core/provision/setbacks.h"

#include <algorithm>
#include <utility>

#include "src/base/clip.h"
#include "src/base/status.h"
#include "src/core/provision/providers.h"

namespace hodei::core {
namespace {

constexpr Duration kFirstBackOff = 1s;
constexpr Duration kLongestBackOff = std::chrono::minutes(5);
constexpr Duration kNoRoomPause = 2s;
// A provider that cannot make such a worker is not asked for one again for this long; twice as long each time.
constexpr Duration kRefusalLife = std::chrono::minutes(2);
constexpr Duration kLongestRefusal = std::chrono::minutes(30);

}  // namespace

void Setbacks::give_up(LiveWorker& worker, MakingFailure kind, const std::string& reason, Turn& turn) {
  const std::string provider = worker.record->info.made->provider;
  const auto attempt = context_.making.attempts.find(worker.id());
  if (worker.is_on_its_way()) {
    back_off(provider, kind, reason, turn);
    if (attempt != context_.making.attempts.end() && !attempt->second.shape.empty()) {
      refuse(provider, attempt->second.shape, kind, reason, turn);
    }
    context_.jobs.moves.note(
        JobId{worker.record->info.made->for_job},
        cat("provider ", provider, " could not create a worker for it: ", clip(reason, kMaxHeldUp)), turn);
  }
  if (attempt != context_.making.attempts.end()) context_.making.attempts.erase(attempt);
  context_.fleet.workers.note_end(worker, reason, turn);
  context_.fleet.workers.move(worker, worker.is_on_its_way() ? WorkerEvent::Expire : WorkerEvent::Leave, turn);
  destroy(worker, turn);
  context_.making.look_again();
}

void Setbacks::withdraw(LiveWorker& worker, Turn& turn) {
  context_.making.attempts.erase(worker.id());
  context_.fleet.workers.note_end(worker, "it was no longer needed", turn);
  context_.fleet.workers.move(worker, WorkerEvent::Expire, turn);
  destroy(worker, turn);
  context_.making.look_again();
}

void Setbacks::destroy(LiveWorker& worker, Turn& turn) {
  const Made& made = *worker.record->info.made;
  context_.making.leaving.erase(worker.id());
  turn.tell(DestroyWorker{made.provider, worker.id(), made.handle});
}

// Another one of the same provider would most likely be as unfit, and its job would have them made without end.
void Setbacks::note_unfit(const LiveWorker& worker, const std::string& shape, Turn& turn) {
  const Made& made = *worker.record->info.made;
  const std::string reason = cat("worker ", worker.id().str(), ", which it created, is unfit: ", worker.unfit);
  back_off(made.provider, MakingFailure::Trouble, reason, turn);
  if (!shape.empty()) refuse(made.provider, shape, MakingFailure::Trouble, reason, turn);
  context_.jobs.moves.note(JobId{made.for_job}, cat("provider ", made.provider, " has trouble: ", reason), turn);
}

void Setbacks::back_off(const std::string& name, MakingFailure kind, const std::string& reason, const Turn& turn) {
  LiveProvider* known = context_.providers.find(name);
  if (known == nullptr) return;
  LiveProvider& provider = *known;
  ++provider.failed;
  provider.last_failure = reason;
  switch (kind) {
    case MakingFailure::Shape:
    case MakingFailure::Hopeless: break;
    case MakingFailure::Room: provider.not_before = turn.mono() + kNoRoomPause; break;
    case MakingFailure::Trouble: {
      const uint32_t doublings = std::min<uint32_t>(provider.failures_in_a_row++, 16);
      provider.not_before =
          turn.mono() + std::min<Duration>(kFirstBackOff * (int64_t{1} << doublings), kLongestBackOff);
      break;
    }
  }
}

void Setbacks::refuse(const std::string& provider, const std::string& shape, MakingFailure kind,
                      const std::string& reason, const Turn& turn) {
  const std::pair key(provider, shape);
  if (!context_.making.refusals.contains(key) && context_.making.refusals.size() >= kMaxRefusals) return;
  Refusal& refusal = context_.making.refusals[key];
  refusal.reason = reason;
  if (kind == MakingFailure::Room) {
    // It may be asked again at once; what it said is told meanwhile.
    refusal.until = std::max(refusal.until, turn.mono());
    return;
  }
  const uint32_t doublings = std::min<uint32_t>(refusal.times++, 16);
  if (doublings == 0) refusal.first = turn.mono();
  refusal.until = turn.mono() + std::min<Duration>(kRefusalLife * (int64_t{1} << doublings), kLongestRefusal);
  refusal.hopeless = kind == MakingFailure::Hopeless;
  refusal.is_final = refusal.hopeless || kind == MakingFailure::Shape;
}

}  // namespace hodei::core
