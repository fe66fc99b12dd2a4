#include "src/core/fleet/silence.h"

#include <string>
#include <vector>

#include "src/base/status.h"

namespace hodei::core {
namespace {

constexpr Duration kForgetTerminatedAfter = std::chrono::hours(1);

}  // namespace

void Silence::resume(Turn& turn) {
  for (const auto& [id, worker] : workers_.all()) {
    worker->last_seen = turn.mono();
    worker->last_seen_wall = turn.wall();
    worker->connecting_since = turn.mono();
  }
}

Answer Silence::decide(const Stall& c, Turn&) {
  for (const auto& [id, worker] : workers_.all()) {
    worker->last_seen = worker->last_seen + c.length;
    worker->connecting_since = worker->connecting_since + c.length;
    for (auto& [execution, since] : worker->disputed) since = since + c.length;
  }
  ports_.makers->stall(c.length);
  return Done{};
}

Silence::Verdict Silence::judge(LiveWorker& worker, const Turn& turn) {
  const Duration silent = turn.mono() - worker.last_seen;
  const bool made = worker.record->info.made.has_value();
  if (made && (worker.state == WorkerState::Creating || worker.state == WorkerState::Connecting)) return Verdict::Stays;
  if (worker.state == WorkerState::Terminated) {
    return silent >= kForgetTerminatedAfter ? Verdict::Forgotten : Verdict::Stays;
  }
  if (worker.state == WorkerState::Connecting && worker.executions.empty()) {
    const bool is_late = turn.mono() - worker.connecting_since >= config_.registration_limit;
    return is_late ? Verdict::NeverCame : Verdict::Stays;
  }
  // One that said that it stops, and has, is not missed.
  const bool is_missed = !worker.record->stopped || !worker.executions.empty();
  const bool is_silent = silent >= config_.unhealthy_after;
  if (is_silent && worker.unhealthy != is_missed) {
    worker.unhealthy = is_missed;
    ports_.room->refresh(worker);
  }
  if (!worker.executions.empty()) return silent >= config_.lost_after ? Verdict::Lost : Verdict::Stays;
  const Duration forget_after = worker.record->stopped ? config_.forget_stopped_after : config_.forget_worker_after;
  return silent >= forget_after && !made ? Verdict::Forgotten : Verdict::Stays;
}

void Silence::sweep(Turn& turn) {
  std::vector<LiveWorker*> lost;
  std::vector<LiveWorker*> forgotten;
  std::vector<LiveWorker*> never_came;
  for (const auto& [id, worker] : workers_.all()) {
    switch (judge(*worker, turn)) {
      case Verdict::Stays: break;
      case Verdict::Lost: lost.push_back(worker.get()); break;
      case Verdict::Forgotten: forgotten.push_back(worker.get()); break;
      case Verdict::NeverCame: never_came.push_back(worker.get()); break;
    }
  }
  for (LiveWorker* worker : lost) lose_all(*worker, turn);
  for (LiveWorker* worker : never_came) {
    tokens_.revoke(worker->id(), turn);
    workers_.end(
        *worker, WorkerEvent::Expire,
        cat("it registered, but did not connect within ", config_.registration_limit.count() / 1'000'000, " s"), turn);
  }
  for (LiveWorker* worker : forgotten) turn.write(Erase<WorkerRecord>{worker->id()});
}

void Silence::lose_all(LiveWorker& worker, Turn& turn) {
  const std::vector<ExecutionId> executions(worker.executions.begin(), worker.executions.end());
  if (worker.connected) {
    turn.tell(DropStream{worker.id(), worker.stream, "silent for longer than its lease"});
    worker.connected = false;
    ports_.room->refresh(worker);
  }
  for (const ExecutionId& execution : executions) {
    ports_.executions->lose(
        execution,
        cat("worker ", worker.id().str(), " was silent for ", config_.lost_after.count() / 1'000'000, " s",
            worker.end_reason.empty() ? "" : ": ", worker.end_reason),
        turn);
  }
}

}  // namespace hodei::core
