#include "src/core/provision/services.h"

#include <algorithm>

#include "src/core/provision/providers.h"

namespace hodei::core {

void FleetMakers::count(const WorkerRecord* before, const WorkerRecord* after, size_t executions) {
  context_.providers.count(before, after, executions);
}

// It runs, whether or not its provider has said so yet.
void FleetMakers::registered(const WorkerId& worker, Turn& turn) {
  const auto attempt = context_.making.attempts.find(worker);
  if (attempt == context_.making.attempts.end()) return;
  attempt->second.deadline = std::min(attempt->second.deadline, turn.mono() + context_.config.registration_limit);
}

void FleetMakers::has_started_a_job(const LiveWorker& worker) {
  if (!worker.record->info.made) return;
  if (LiveProvider* provider = context_.providers.find(worker.record->info.made->provider)) {
    provider->failures_in_a_row = 0;
  }
}

void FleetMakers::is_unfit(const LiveWorker& worker, Turn& turn) {
  const LiveJob* job = context_.jobs.table.find(JobId{worker.record->info.made->for_job});
  context_.setbacks.note_unfit(worker, job == nullptr ? std::string() : job->head->shape->encoded, turn);
}

void FleetMakers::give_up(LiveWorker& worker, const std::string& reason, Turn& turn) {
  context_.setbacks.give_up(worker, MakingFailure::Room, reason, turn);
}

void FleetMakers::stall(Duration length) {
  for (auto& [id, attempt] : context_.making.attempts) attempt.deadline = attempt.deadline + length;
}

void JobSuppliers::count_executions(const std::string& provider, int change) {
  context_.providers.count_executions(provider, change);
}

}  // namespace hodei::core
