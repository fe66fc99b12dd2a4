#include "src/core/fleet/beats.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "src/base/finite.h"
#include "src/base/status.h"

namespace hodei::core {
namespace {

// For a process that runs without being anybody's.
constexpr Duration kStrayGrace = 5s;

}  // namespace

Answer Beats::decide(const Heartbeat& c, Turn& turn) {
  LiveWorker* worker = workers_.find(c.worker);
  if (worker == nullptr || (c.stream != 0 && worker->stream != c.stream)) {
    return absl::AbortedError("this stream has been replaced by a newer one");
  }
  if (const absl::Status held = check_held("heartbeat.active", c.active.size(), worker->record->info); !held.ok()) {
    if (c.stream != 0) workers_.drop_stream(*worker, std::string(held.message()), turn);
    return held;
  }
  worker->cpu_load = bounded(c.cpu_load, 0, 1, 0);  // workers are sorted by it, and a NaN has no place in an order
  worker->memory_used_mb = c.memory_used_mb;
  worker->dropped_logs = c.dropped_logs;
  const double before = worker->rank;
  const bool was_well = worker->is_well();
  const bool was_fit = worker->unfit.empty();
  note_fitness(*worker, c.unfit, turn);
  if (was_fit && !c.unfit.empty() && worker->record->info.made && worker->executions.empty()) {
    ports_.makers->is_unfit(*worker, turn);
  }
  ports_.room->refresh(*worker);
  seen(*worker, turn);
  // A lower load may lift it over the threshold of what waits.
  const bool ranks_higher = ports_.room->has_threshold() && worker->rank > before;
  if (ranks_higher || (worker->is_well() && !was_well)) ports_.room->fill(*worker, turn);
  HeartbeatTaken taken;
  if (c.stream == 0) taken.instructions = instructions_for(*worker, c);
  if (c.stream != 0 && worker->lists_active) compare_active(*worker, c, turn);
  return taken;
}

void Beats::note_fitness(LiveWorker& worker, const std::string& unfit, Turn& turn) {
  if (worker.unfit == unfit) return;
  worker.unfit = unfit;
  ports_.room->refresh(worker);
  if (!unfit.empty()) ports_.makers->look_again();  // what waited for it may need a worker of its own
  if (!worker.connected) return;
  turn.tell(TellWorker{
      worker.id(), worker.stream,
      unfit.empty() ? "status ok: it gets jobs again" : cat("it gets no jobs while its status is: ", unfit)});
}

// Heartbeats cross orders and results on their way, so a difference counts only when it has stayed for a lease. Then
// what the engine believes to be there and is not is settled by a new hello, which is a barrier; what is there and is
// not the worker's is ended.
void Beats::compare_active(LiveWorker& worker, const Heartbeat& beat, Turn& turn) {
  std::vector<ExecutionId> active = beat.active;
  std::sort(active.begin(), active.end());
  absl::btree_map<ExecutionId, MonoTime> disputed;
  const auto since = [&](ExecutionId execution) {
    const auto known = worker.disputed.find(execution);
    return disputed[execution] = known == worker.disputed.end() ? turn.mono() : known->second;
  };
  const auto lasts = [&](MonoTime from) { return turn.mono() - from >= config_.unhealthy_after; };
  std::optional<ExecutionId> missing;
  for (const ExecutionId& execution : worker.executions) {
    if (std::binary_search(active.begin(), active.end(), execution)) continue;
    if (lasts(since(execution)) && !missing) missing = execution;
  }
  for (const ExecutionId& execution : active) {
    if (worker.executions.contains(execution) || !lasts(since(execution))) continue;
    disputed[execution] = turn.mono();  // asked again after another lease
    turn.tell(CancelExecution{worker.id(), worker.stream, execution, false, kStrayGrace});
    turn.tell(TellWorker{worker.id(), worker.stream, cat("stop ", to_string(execution), ": it is not yours any more")});
  }
  worker.disputed = std::move(disputed);
  if (missing) workers_.drop_stream(worker, cat("its heartbeats do not list execution ", to_string(*missing)), turn);
}

std::vector<std::string> Beats::instructions_for(const LiveWorker& worker, const Heartbeat& beat) const {
  std::vector<std::string> out;
  if (worker.state == WorkerState::Draining || worker.state == WorkerState::Terminating) out.emplace_back("drain");
  for (const ExecutionId& execution : worker.executions) {
    if (is_ending(ports_.executions->job_of(execution))) out.push_back(cat("cancel ", to_string(execution)));
  }
  for (const ExecutionId& execution : beat.active) {
    if (!worker.executions.contains(execution)) out.push_back(cat("stop ", to_string(execution)));
  }
  return out;
}

void Beats::seen(LiveWorker& worker, Turn& turn) {
  worker.last_seen = turn.mono();
  worker.last_seen_wall = turn.wall();
  if (!worker.unhealthy) return;
  worker.unhealthy = false;
  ports_.room->refresh(worker);
  ports_.room->fill(worker, turn);
}

}  // namespace hodei::core
